// CallWatch: the longest single call into a plugin.
//
// Wall time alone says little on a shared machine, where another process may
// take the core in the middle of a call; the processor time of the thread says
// how much work the call did, but misses a call that sleeps. Both are kept.
// Reading the two clocks costs about as much as a short call, so only runs that
// are not timed are watched.
//
// Thread-safety: one thread. Failure: none.
//
// Example:
//   CallWatch watch;
//   const int result = watch.Call([&] { return net->Test(request, &done, 0);
//   }); watch.longest().wall_ns;
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>

namespace rondo::perf {

struct LongestCall {
  int64_t wall_ns = 0;
  int64_t cpu_ns = 0;  // not necessarily of the same call
};

class CallWatch {
 public:
  // A watch that is off only calls.
  explicit CallWatch(bool on = true) : on_(on) {}

  template <typename Function>
  int Call(Function function) {
    if (!on_) return function();
    const int64_t wall = Read(CLOCK_MONOTONIC);
    const int64_t cpu = Read(CLOCK_THREAD_CPUTIME_ID);
    const int result = function();
    longest_.cpu_ns =
        std::max(longest_.cpu_ns, Read(CLOCK_THREAD_CPUTIME_ID) - cpu);
    longest_.wall_ns = std::max(longest_.wall_ns, Read(CLOCK_MONOTONIC) - wall);
    return result;
  }

  const LongestCall& longest() const { return longest_; }

 private:
  static int64_t Read(clockid_t clock) {
    timespec now = {};
    clock_gettime(clock, &now);
    return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
  }

  bool on_;
  LongestCall longest_;
};

}  // namespace rondo::perf
