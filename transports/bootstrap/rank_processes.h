// RankProcesses: real processes for tests, one per rank, which a test can kill,
// stop and listen to.
//
// Made by fork() from a process without threads; the child runs `body` and
// ends. What it says (lines) arrives at the parent in order.
//
// Thread-safety: one thread, which has started no other before.
// Ownership: destruction kills and reaps what still runs.
// Failure: a rank that says nothing within the patience gives "" from Line().
//
// Example:
//   RankProcesses ranks(3, [](RankVoice& voice) { voice.Say("here"); });
//   EXPECT_EQ(ranks.Line(2), "here");
//   ranks.Kill(2);
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "transports/bootstrap/file_descriptor.h"

namespace rondo {

// The child's side.
class RankVoice {
 public:
  RankVoice(int rank, int output, int input)
      : rank_(rank), output_(output), input_(input) {}

  int rank() const { return rank_; }
  void Say(std::string line) const;
  // The next line that the parent told this rank; "" when it never came.
  std::string Hear() const;

 private:
  int rank_;
  int output_;
  int input_;
};

class RankProcesses {
 public:
  RankProcesses(int count, std::function<void(RankVoice&)> body);
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  // The next line that `rank` says.
  std::string Line(int rank);
  void Tell(int rank, std::string line);
  // SIGKILL, SIGSTOP, SIGCONT, ...
  void Signal(int rank, int number);
  // Waits for its end: the exit status, or -1 when a signal ended it.
  int Wait(int rank);

 private:
  struct Process {
    pid_t pid = -1;
    FileDescriptor output;  // what it says
    FileDescriptor input;   // what it is told
  };
  std::vector<Process> processes_;
};

}  // namespace rondo
