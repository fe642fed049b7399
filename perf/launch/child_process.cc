#include "perf/launch/child_process.h"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

namespace rondo::perf {
namespace {

constexpr int kCannotExecute = 127;

// Pointers into `texts`, ended by a null, as exec wants them.
std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

void SayWhy(const std::string& message) {
  // Nothing can be done when even this fails.
  const ssize_t written = write(STDERR_FILENO, message.data(), message.size());
  static_cast<void>(written);
}

}  // namespace

Result<pid_t> StartChild(const std::string& program,
                         const std::vector<std::string>& arguments,
                         const std::map<std::string, std::string>& environment,
                         const sigset_t& signal_mask) {
  std::vector<std::string> argument_texts = arguments;
  std::vector<std::string> environment_texts;
  for (const auto& [name, value] : environment) {
    environment_texts.push_back(name + "=" + value);
  }
  const std::vector<char*> argv = PointersTo(argument_texts);
  const std::vector<char*> envp = PointersTo(environment_texts);
  const std::string failure = "rondo: cannot execute " + program + "\n";
  const pid_t parent = getpid();

  const pid_t pid = fork();
  if (pid < 0) return SystemError("fork", errno);
  if (pid > 0) return pid;

  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kCannotExecute);  // it died before the prctl
  sigprocmask(SIG_SETMASK, &signal_mask, nullptr);
  execve(program.c_str(), argv.data(), envp.data());
  SayWhy(failure);
  _exit(kCannotExecute);
}

}  // namespace rondo::perf
