// CapturedChild: another program, run with its output kept.
//
// Standard output and standard error go to one file in memory, so that a child
// which prints much never waits for its reader.
//
// Thread-safety: one thread. Ownership: the child is killed and reaped with
// the object, and dies with this process. Failure: errors name the program; a
// child beyond its deadline is killed and its output is in the message.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto child, CapturedChild::Start(words, variables));
//   RONDO_ASSIGN_OR_RETURN(std::string text,
//                          child->Finish(Deadline::AfterMs(10000)));
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transports/base/clock.h"
#include "transports/base/status.h"

namespace rondo::perf {

class CapturedChild {
 public:
  // `words`: path and arguments; `environment` is all that it gets.
  static Result<std::unique_ptr<CapturedChild>> Start(
      std::vector<std::string> words,
      const std::map<std::string, std::string>& environment);
  ~CapturedChild();
  CapturedChild(const CapturedChild&) = delete;
  CapturedChild& operator=(const CapturedChild&) = delete;

  // Whether it has not ended yet.
  bool Running();
  // Its output once it has ended with status 0.
  Result<std::string> Finish(Deadline deadline);

 private:
  CapturedChild(std::string program, int output)
      : program_(std::move(program)), output_(output) {}
  std::string Output() const;

  std::string program_;
  int output_;
  pid_t pid_ = 0;
  bool ended_ = false;
  int wait_status_ = 0;
};

// The full path of an executable file `name` in the folders of `path` (PATH's
// value), or empty.
std::string FindProgram(const std::string& name, const std::string& path);

}  // namespace rondo::perf
