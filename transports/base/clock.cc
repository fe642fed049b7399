#include "transports/base/clock.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "transports/base/cpu_quota.h"

namespace rondo {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;

// About 40 us of spinning: longer than a message takes inside a host, shorter
// than a time slice.
constexpr int kSpins = 1000;
// About a millisecond of yielding before this rank is taken to be idle.
constexpr int kYields = 2000;
constexpr int kShortSleeps = 100;
constexpr long kShortSleepNs = 20'000;
constexpr long kLongSleepNs = 50'000;

// CPUs in the affinity mask; 0 when the kernel does not tell.
int AffinityCpus() {
  // Kernels built for more CPUs than a cpu_set_t holds answer EINVAL until the
  // mask is large enough.
  for (int capacity = CPU_SETSIZE; capacity <= 1 << 20; capacity *= 2) {
    cpu_set_t* mask = CPU_ALLOC(capacity);
    if (mask == nullptr) return 0;
    const size_t mask_bytes = CPU_ALLOC_SIZE(capacity);
    const int error = sched_getaffinity(0, mask_bytes, mask);
    const int cpus = error == 0 ? CPU_COUNT_S(mask_bytes, mask) : 0;
    CPU_FREE(mask);
    if (error == 0) return cpus;
  }
  return 0;
}

int ReadUsableCpus() {
  int cpus = AffinityCpus();
  if (cpus == 0) cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const int quota = CgroupCpuLimit("/proc/self");
  if (quota > 0) cpus = std::min(cpus, quota);
  return std::max(cpus, 1);
}

}  // namespace

int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Deadline Deadline::AfterMs(int64_t duration_ms) {
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  const int64_t now_ns = NowNs();
  if (duration_ms <= 0) return Deadline(now_ns);
  if (duration_ms > (kNever - now_ns) / kNsPerMs) return Deadline(kNever);
  return Deadline(now_ns + duration_ms * kNsPerMs);
}

int Deadline::remaining_ms() const {
  const int64_t left_ns = expiry_ns_ - NowNs();
  if (left_ns <= 0) return 0;
  const int64_t left_ms = left_ns / kNsPerMs + (left_ns % kNsPerMs != 0);
  return static_cast<int>(
      std::min<int64_t>(left_ms, std::numeric_limits<int>::max()));
}

Deadline Deadline::Earlier(Deadline a, Deadline b) {
  return a.expiry_ns_ <= b.expiry_ns_ ? a : b;
}

int UsableCpus() {
  static const int cpus = ReadUsableCpus();
  return cpus;
}

Backoff::Backoff(int ranks_on_host, int cpus_of_ranks)
    : spins_(ranks_on_host <= cpus_of_ranks ? kSpins : 0) {}

bool Backoff::sleeps() const { return pauses_ >= spins_ + kYields; }

void Backoff::Pause() {
  if (pauses_ < spins_) {
    ++pauses_;
    SpinPause();
    return;
  }
  if (pauses_ < spins_ + kYields) {
    ++pauses_;
    sched_yield();
    return;
  }
  const bool still_short = pauses_ < spins_ + kYields + kShortSleeps;
  if (still_short) ++pauses_;  // stops counting here, so it cannot overflow
  const timespec nap = {0, still_short ? kShortSleepNs : kLongSleepNs};
  nanosleep(&nap, nullptr);  // an early wake-up by a signal is welcome
}

}  // namespace rondo
