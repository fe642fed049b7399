// Runs the built `rondo` as a user would and keeps what it said.
//
// Thread-safety: one thread. Ownership: a RunningCommand kills and reaps its
// process if the test leaves early. Failure: gtest failures that name the
// command; a command that does not end within the deadline is killed and counts
// as failed.
//
// Example:
//   Finished run = RunRondo({"perf", "all_gather", "--ranks", "2"});
//   EXPECT_EQ(run.exit_status, 0) << run.standard_error;
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rondo::perf {

struct Finished {
  int exit_status = -1;  // -1: killed by a signal
  std::string standard_output;
  std::string standard_error;
};

using Variables = std::map<std::string, std::string>;

class RunningCommand {
 public:
  // `words`: path and arguments. Besides `variables` it gets PATH, HOME and a
  // TMPDIR of its own.
  RunningCommand(std::vector<std::string> words, Variables variables);
  ~RunningCommand();
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  pid_t pid() const { return pid_; }
  // Process ids of its children, once there are `count`.
  std::vector<pid_t> WaitForChildren(size_t count);
  // Waits until `text` shows up on its standard output.
  void WaitForOutput(const std::string& text);
  // Its end, within `limit_ms`; the TMPDIR must be empty then.
  Finished Finish(int64_t limit_ms = 100000);

 private:
  std::string words_;
  std::string directory_;
  pid_t pid_ = 0;
};

// The path of a program of //perf that the test has in its data.
std::string BuiltPath(const std::string& name);
std::string RondoPath();  // of `rondo`

Finished RunRondo(std::vector<std::string> arguments, Variables variables = {});

// The whole text of a file; a gtest failure if it cannot be read.
std::string FileText(const std::string& path);

// A path for a new file of this test.
std::string NewPath(const std::string& name);

}  // namespace rondo::perf
