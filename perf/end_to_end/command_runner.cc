#include "perf/end_to_end/command_runner.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "gtest/gtest.h"
#include "perf/launch/child_process.h"
#include "transports/base/clock.h"

namespace rondo::perf {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLimitMs = 60000;

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

// Whether `ready` became true in time.
bool Await(int64_t limit_ms, const std::function<bool()>& ready) {
  const Deadline deadline = Deadline::AfterMs(limit_ms);
  while (!ready()) {
    if (deadline.expired()) return false;
    const timespec pause = {0, 10 * 1000000L};
    nanosleep(&pause, nullptr);
  }
  return true;
}

std::string ReadIfThere(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

RunningCommand::RunningCommand(std::vector<std::string> words,
                               Variables variables)
    : words_(Joined(words)), directory_(NewPath("command")) {
  fs::create_directories(directory_ + "/tmp");
  Variables environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                           {"HOME", directory_},
                           {"TMPDIR", directory_ + "/tmp"}};
  for (auto& [name, value] : variables) environment[name] = value;
  environment["OUT"] = directory_;
  std::vector<std::string> shell = {
      "sh", "-c", "exec \"$@\" > \"$OUT/out\" 2> \"$OUT/err\" < /dev/null",
      "sh"};
  shell.insert(shell.end(), words.begin(), words.end());
  sigset_t none;
  sigemptyset(&none);
  const Result<pid_t> pid = StartChild("/bin/sh", shell, environment, none);
  EXPECT_TRUE(pid.ok()) << words_ << pid.status().ToString();
  if (pid.ok()) pid_ = *pid;
}

RunningCommand::~RunningCommand() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::vector<pid_t> RunningCommand::WaitForChildren(size_t count) {
  const std::string id = std::to_string(pid_);
  const std::string path = "/proc/" + id + "/task/" + id + "/children";
  std::vector<pid_t> children;
  const bool there = Await(kLimitMs, [&] {
    std::stringstream text(ReadIfThere(path));
    children.clear();
    for (pid_t child; text >> child;) children.push_back(child);
    return children.size() >= count;
  });
  EXPECT_TRUE(there) << words_ << "has started " << children.size()
                     << " processes, not " << count;
  return children;
}

void RunningCommand::WaitForOutput(const std::string& text) {
  const bool there = Await(kLimitMs, [&] {
    return ReadIfThere(directory_ + "/out").find(text) != std::string::npos;
  });
  EXPECT_TRUE(there) << words_ << "has not printed " << text << " but\n"
                     << ReadIfThere(directory_ + "/out")
                     << ReadIfThere(directory_ + "/err");
}

Finished RunningCommand::Finish(int64_t limit_ms) {
  int state = 0;
  const bool ended =
      Await(limit_ms, [&] { return waitpid(pid_, &state, WNOHANG) == pid_; });
  EXPECT_TRUE(ended) << words_ << "did not end within " << limit_ms << " ms";
  if (!ended) {
    kill(pid_, SIGKILL);
    waitpid(pid_, &state, 0);
  }
  pid_ = 0;
  Finished finished;
  if (WIFEXITED(state)) finished.exit_status = WEXITSTATUS(state);
  finished.standard_output = ReadIfThere(directory_ + "/out");
  finished.standard_error = ReadIfThere(directory_ + "/err");
  for (const auto& entry : fs::directory_iterator(directory_ + "/tmp")) {
    // Open MPI keeps a session directory for the next run.
    if (entry.path().filename().string().rfind("ompi.", 0) == 0) continue;
    ADD_FAILURE() << words_ << "left " << entry.path();
  }
  return finished;
}

std::string BuiltPath(const std::string& name) {
  return fs::absolute("perf/" + name).string();
}

std::string RondoPath() { return BuiltPath("rondo"); }

Finished RunRondo(std::vector<std::string> arguments, Variables variables) {
  arguments.insert(arguments.begin(), RondoPath());
  RunningCommand command(std::move(arguments), std::move(variables));
  return command.Finish();
}

std::string FileText(const std::string& path) {
  EXPECT_TRUE(fs::exists(path)) << path;
  return ReadIfThere(path);
}

std::string NewPath(const std::string& name) {
  static int number = 0;
  return testing::TempDir() + "/" + std::to_string(number++) + "-" + name;
}

}  // namespace rondo::perf
