// Time: a monotonic clock, deadlines, and how to wait without burning a core.
//
// Every wait in Rondo takes a Deadline. There is no infinite one: a wait that
// nothing bounds is a hang that nobody can explain.
//
// Thread-safety: values, except Backoff, which belongs to one waiting thread.
//
// Example:
//   Deadline deadline = Deadline::AfterMs(30000);
//   Backoff backoff;
//   while (!Arrived()) {
//     if (deadline.expired()) return Status(Code::kTimeout, "...");
//     backoff.Pause();
//   }
#pragma once

#include <cstdint>

namespace rondo {

// Nanoseconds of the monotonic clock; the origin is arbitrary.
int64_t NowNs();

class Deadline {
 public:
  // `duration_ms` from now; negative counts as 0. Saturates instead of
  // wrapping.
  static Deadline AfterMs(int64_t duration_ms);

  bool expired() const { return NowNs() >= expiry_ns_; }
  // Milliseconds left, rounded up; 0 once expired. Fits poll()'s argument.
  int remaining_ms() const;
  // The earlier of the two.
  static Deadline Earlier(Deadline a, Deadline b);

 private:
  explicit Deadline(int64_t expiry_ns) : expiry_ns_(expiry_ns) {}
  int64_t expiry_ns_;
};

// CPUs that this process may really use: its affinity mask, cut by the cgroup's
// quota (rounded up). At least 1. Read once.
int UsableCpus();

// One CPU's way of saying "I am spinning": saves power and lets the sibling
// hyper-thread run.
inline void SpinPause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

// One waiting thread's patience. Spins only while `ranks_on_host` fit the
// usable CPUs, because a spinning rank on a shared core delays the very peer
// that it waits for (measured, 4 ranks on 2 cores, 1 KiB: 1.8 us yielding, 33
// us after 2,000 spins); then yields; then sleeps for tens of microseconds at a
// time.
class Backoff {
 public:
  explicit Backoff(int ranks_on_host = 1)
      : Backoff(ranks_on_host, UsableCpus()) {}
  // Where launchers bind each rank to a CPU of its own, the ranks have more
  // CPUs together than any of them may use.
  Backoff(int ranks_on_host, int cpus_of_ranks);
  void Pause();
  bool spins() const { return spins_ > 0; }
  // Whether the next Pause() would sleep: for who has a better way to.
  bool sleeps() const;
  // To be called when something happened: patience starts anew.
  void Reset() { pauses_ = 0; }

 private:
  int spins_;
  int pauses_ = 0;
};

}  // namespace rondo
