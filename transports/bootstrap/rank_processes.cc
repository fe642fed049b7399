#include "transports/bootstrap/rank_processes.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transports/base/clock.h"

namespace rondo {

namespace {

constexpr int kPatienceMs = 30000;

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

Pipe MakePipe() {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

void WriteLine(int fd, std::string line) {
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  line += '\n';
  [[maybe_unused]] ssize_t ignored = write(fd, line.data(), line.size());
}

std::string ReadLine(int fd) {
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  std::string line;
  while (true) {
    pollfd entry{fd, POLLIN, 0};
    if (poll(&entry, 1, deadline.remaining_ms()) <= 0) return "";
    char c;
    if (read(fd, &c, 1) != 1) return "";
    if (c == '\n') return line;
    line.push_back(c);
  }
}

}  // namespace

void RankVoice::Say(std::string line) const {
  WriteLine(output_, std::move(line));
}

std::string RankVoice::Hear() const { return ReadLine(input_); }

RankProcesses::RankProcesses(int count, std::function<void(RankVoice&)> body) {
  for (int rank = 0; rank < count; ++rank) {
    Pipe output = MakePipe();
    Pipe input = MakePipe();
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      processes_.clear();  // the earlier ranks' pipes
      output.read.Close();
      input.write.Close();
      RankVoice voice(rank, output.write.get(), input.read.get());
      body(voice);
      _exit(0);
    }
    processes_.push_back({pid, std::move(output.read), std::move(input.write)});
  }
}

RankProcesses::~RankProcesses() {
  for (Process& process : processes_) {
    if (process.pid <= 0) continue;
    kill(process.pid, SIGKILL);
    waitpid(process.pid, nullptr, 0);
  }
}

std::string RankProcesses::Line(int rank) {
  return ReadLine(processes_[rank].output.get());
}

void RankProcesses::Tell(int rank, std::string line) {
  WriteLine(processes_[rank].input.get(), std::move(line));
}

void RankProcesses::Signal(int rank, int number) {
  if (processes_[rank].pid > 0) kill(processes_[rank].pid, number);
}

int RankProcesses::Wait(int rank) {
  int status = 0;
  const pid_t pid = processes_[rank].pid;
  processes_[rank].pid = -1;
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (deadline.expired()) kill(pid, SIGKILL);
    poll(nullptr, 0, 2);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace rondo
