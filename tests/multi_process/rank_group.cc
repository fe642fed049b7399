#include "tests/multi_process/rank_group.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace rondo::testing {
namespace {

std::string WithRank(std::string text, int rank) {
  for (size_t at = text.find("%r"); at != std::string::npos;
       at = text.find("%r", at)) {
    text.replace(at, 2, std::to_string(rank));
  }
  return text;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

void PauseMs(int duration_ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(duration_ms));
}

// Variables of a launcher or of Rondo that the test itself was started with
// must not reach the ranks.
bool IsInherited(const std::string& variable) {
  for (const char* prefix : {"RONDO_", "OMPI_", "PMI", "SLURM_",
                             "RANK=", "WORLD_SIZE=", "LOCAL_", "MASTER_"}) {
    if (variable.rfind(prefix, 0) == 0) return false;
  }
  return true;
}

}  // namespace

RankGroup::RankGroup(std::string program, int world_size)
    : program_(std::move(program)), processes_(world_size) {
  static int counter = 0;
  const char* folder = std::getenv("TEST_TMPDIR");
  rendezvous_file_ = std::string(folder == nullptr ? "/tmp" : folder) +
                     "/ranks-" + std::to_string(getpid()) + "-" +
                     std::to_string(counter++);
}

RankGroup::~RankGroup() {
  for (Process& process : processes_) {
    if (process.pid > 0 && !process.exit_status.has_value()) {
      kill(process.pid, SIGKILL);
      int status = 0;
      waitpid(process.pid, &status, 0);
    }
    if (process.output >= 0) close(process.output);
  }
  unlink(rendezvous_file_.c_str());
}

bool RankGroup::Start(const std::vector<std::string>& arguments,
                      const std::map<std::string, std::string>& environment) {
  for (size_t rank = 0; rank < processes_.size(); ++rank) {
    if (!StartRank(static_cast<int>(rank), arguments, environment)) {
      return false;
    }
  }
  return true;
}

bool RankGroup::StartRank(
    int rank, const std::vector<std::string>& arguments,
    const std::map<std::string, std::string>& environment) {
  std::vector<std::string> words = {program_};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = {
      "RONDO_RANK=" + std::to_string(rank),
      "RONDO_WORLD_SIZE=" + std::to_string(processes_.size()),
      "RONDO_RENDEZVOUS_FILE=" + rendezvous_file_,
      "RONDO_SOCKET_IFNAME=lo",
  };
  for (const auto& [name, value] : environment) {
    variables.push_back(name + "=" + WithRank(value, rank));
  }
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (IsInherited(*variable)) variables.emplace_back(*variable);
  }

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  Process& process = processes_[rank];
  const int error =
      posix_spawn(&process.pid, program_.c_str(), &actions, nullptr,
                  Pointers(words).data(), Pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  process.output = ends[0];
  fcntl(process.output, F_SETFL, O_NONBLOCK);
  if (error != 0) process.pid = -1;
  return error == 0;
}

void RankGroup::ReadAvailable() {
  for (Process& process : processes_) {
    char buffer[4096];
    ssize_t bytes = 0;
    while ((bytes = read(process.output, buffer, sizeof(buffer))) > 0) {
      process.text.append(buffer, bytes);
    }
  }
}

std::optional<std::string> RankGroup::WaitForLine(int rank,
                                                  const std::string& prefix,
                                                  Deadline deadline) {
  for (;;) {
    const bool last_look = deadline.expired();
    ReadAvailable();
    std::istringstream lines(processes_[rank].text);
    for (std::string line; std::getline(lines, line);) {
      // A line that is still being written has no end yet.
      if (!lines.eof() && line.rfind(prefix, 0) == 0) return line;
    }
    if (last_look) return std::nullopt;
    PauseMs(1);
  }
}

bool RankGroup::WaitForLines(const std::string& prefix, Deadline deadline) {
  for (size_t rank = 0; rank < processes_.size(); ++rank) {
    if (!WaitForLine(static_cast<int>(rank), prefix, deadline)) return false;
  }
  return true;
}

void RankGroup::Signal(int rank, int signal_number) {
  kill(processes_[rank].pid, signal_number);
}

bool RankGroup::Reap(Process* process) {
  int status = 0;
  if (!process->exit_status.has_value() &&
      waitpid(process->pid, &status, WNOHANG) == process->pid) {
    process->exit_status = status;
  }
  return process->exit_status.has_value();
}

std::optional<int> RankGroup::WaitForExit(int rank, Deadline deadline) {
  Process& process = processes_[rank];
  for (;;) {
    const bool last_look = deadline.expired();
    ReadAvailable();  // a full pipe would keep it from ending
    if (Reap(&process)) return process.exit_status;
    if (last_look) return std::nullopt;
    PauseMs(1);
  }
}

void RankGroup::NoteSharedMemory() {
  for (const Process& process : processes_) {
    std::ifstream maps("/proc/" + std::to_string(process.pid) + "/maps");
    for (std::string line; std::getline(maps, line);) {
      // "address permissions offset device inode path".
      std::istringstream fields(line);
      std::string skipped, inode, path;
      fields >> skipped >> skipped >> skipped >> skipped >> inode >> path;
      const bool deleted = line.find("(deleted)") != std::string::npos;
      if (path.rfind("/SYSV", 0) == 0) system_v_ids_.insert(inode);
      if (path.rfind("/dev/shm/", 0) == 0 && !deleted) {
        shared_files_.insert(path);
      }
    }
  }
}

std::vector<std::string> RankGroup::LeftOverSharedMemory() const {
  std::vector<std::string> left;
  for (const std::string& path : shared_files_) {
    if (std::filesystem::exists(path)) left.push_back(path);
  }
  std::ifstream segments("/proc/sysvipc/shm");
  for (std::string line; std::getline(segments, line);) {
    std::istringstream fields(line);
    std::string key, id;
    fields >> key >> id;
    if (system_v_ids_.count(id) > 0) left.push_back("System V id " + id);
  }
  return left;
}

std::string RankGroup::Describe() {
  ReadAvailable();
  std::string text;
  for (size_t rank = 0; rank < processes_.size(); ++rank) {
    text += "--- rank " + std::to_string(rank) + "\n" + processes_[rank].text;
  }
  return text;
}

std::string ProgramPath(const std::string& path_from_workspace_root) {
  const char* root = std::getenv("TEST_SRCDIR");
  const char* workspace = std::getenv("TEST_WORKSPACE");
  if (root == nullptr || workspace == nullptr) {
    return path_from_workspace_root;
  }
  return std::string(root) + "/" + workspace + "/" + path_from_workspace_root;
}

}  // namespace rondo::testing
