// RankGroup: the ranks of one job as real processes, for tests.
//
// Starts `world_size` copies of a program with RONDO_* variables, reads what
// they print, sends them signals, and reaps them. Also tells which shared
// memory they had mapped, so that a test can see whether any of it is left.
//
// Thread-safety: one thread. Ownership: the destructor kills and reaps whatever
// still runs. Failure: what does not come before its deadline is nothing, and
// Describe() has all output for the test's message.
//
// Example:
//   RankGroup group("path/to/ranks", 4);
//   ASSERT_TRUE(group.Start({"loop"}, {{"RONDO_UCX_TLS", "tcp,self"}}));
//   ASSERT_TRUE(group.WaitForLine(1, "ready", Deadline::AfterMs(20000)));
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "transports/base/clock.h"

namespace rondo::testing {

class RankGroup {
 public:
  RankGroup(std::string program, int world_size);
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  // One process per rank. In values, "%r" becomes the rank.
  bool Start(const std::vector<std::string>& arguments,
             const std::map<std::string, std::string>& environment);

  // The first line of `rank` that starts with `prefix`, once it has come.
  std::optional<std::string> WaitForLine(int rank, const std::string& prefix,
                                         Deadline deadline);
  // Waits for all to print it.
  bool WaitForLines(const std::string& prefix, Deadline deadline);
  void Signal(int rank, int signal_number);
  // The status of waitpid, once the process has ended.
  std::optional<int> WaitForExit(int rank, Deadline deadline);

  // Shared memory that the running ranks have mapped now: names under /dev/shm
  // and System V ids. Collected over all calls.
  void NoteSharedMemory();
  // What of it still exists, for instance "/dev/shm/x" or "System V id 7".
  std::vector<std::string> LeftOverSharedMemory() const;

  // Everything that every rank printed.
  std::string Describe();

 private:
  struct Process {
    pid_t pid = -1;
    int output = -1;  // reads its stdout and stderr
    std::string text;
    std::optional<int> exit_status;
  };

  bool StartRank(int rank, const std::vector<std::string>& arguments,
                 const std::map<std::string, std::string>& environment);
  void ReadAvailable();
  bool Reap(Process* process);

  std::string program_;
  std::string rendezvous_file_;
  std::vector<Process> processes_;
  std::set<std::string> shared_files_;
  std::set<std::string> system_v_ids_;
};

// The path of a program that the test names in its `data`.
std::string ProgramPath(const std::string& path_from_workspace_root);

}  // namespace rondo::testing
