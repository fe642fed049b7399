#include "perf/net/captured_child.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>

#include "fmt/format.h"

namespace rondo::perf {
namespace {

constexpr int kCannotExecute = 127;

std::vector<char*> PointersTo(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string EndText(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    return fmt::format("was killed by signal {}", WTERMSIG(wait_status));
  }
  return fmt::format("ended with status {}", WEXITSTATUS(wait_status));
}

}  // namespace

Result<std::unique_ptr<CapturedChild>> CapturedChild::Start(
    std::vector<std::string> words,
    const std::map<std::string, std::string>& environment) {
  const int output = memfd_create("output", MFD_CLOEXEC);
  if (output < 0) return SystemError("memfd_create", errno);
  std::unique_ptr<CapturedChild> child(
      new CapturedChild(words.front(), output));
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) {
    variables.push_back(name + "=" + value);
  }
  const std::vector<char*> argv = PointersTo(&words);
  const std::vector<char*> envp = PointersTo(&variables);
  const pid_t parent = getpid();
  child->pid_ = fork();
  if (child->pid_ < 0) return SystemError("fork", errno);
  if (child->pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kCannotExecute);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execve(argv[0], argv.data(), envp.data());
    _exit(kCannotExecute);
  }
  return child;
}

CapturedChild::~CapturedChild() {
  if (pid_ > 0 && Running()) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(output_);
}

bool CapturedChild::Running() {
  if (!ended_) ended_ = waitpid(pid_, &wait_status_, WNOHANG) == pid_;
  return !ended_;
}

Result<std::string> CapturedChild::Finish(Deadline deadline) {
  Backoff backoff;
  while (Running()) {
    if (deadline.expired()) {
      return Status(Code::kTimeout,
                    fmt::format("{} did not end in time and was killed; it "
                                "printed \"{}\"",
                                program_, Output()));
    }
    backoff.Pause();
  }
  if (wait_status_ != 0) {
    return Status(Code::kSystem,
                  fmt::format("{} {}; it printed \"{}\"", program_,
                              EndText(wait_status_), Output()));
  }
  return Output();
}

std::string CapturedChild::Output() const {
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t got = pread(output_, part.data(), part.size(),
                              static_cast<off_t>(text.size()));
    if (got <= 0) return text;
    text.append(part.data(), static_cast<size_t>(got));
  }
}

std::string FindProgram(const std::string& name, const std::string& path) {
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (!folder.empty() && access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

}  // namespace rondo::perf
