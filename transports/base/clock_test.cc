#include "transports/base/clock.h"

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

#include "gtest/gtest.h"

namespace rondo {
namespace {

constexpr int64_t kLongest = std::numeric_limits<int64_t>::max();

TEST(ClockTest, NowNsNeverGoesBack) {
  int64_t before_ns = NowNs();
  for (int i = 0; i < 1000; ++i) {
    const int64_t now_ns = NowNs();
    ASSERT_GE(now_ns, before_ns);
    before_ns = now_ns;
  }
}

TEST(ClockTest, NowNsCountsNanoseconds) {
  const int64_t start_ns = NowNs();
  ::poll(nullptr, 0, 20);
  EXPECT_GE(NowNs() - start_ns, 19'000'000);
}

TEST(DeadlineTest, ZeroAndNegativeDurationsHaveExpired) {
  for (int64_t duration_ms : {int64_t{0}, int64_t{-1}, -kLongest}) {
    const Deadline deadline = Deadline::AfterMs(duration_ms);
    EXPECT_TRUE(deadline.expired()) << duration_ms;
    EXPECT_EQ(deadline.remaining_ms(), 0) << duration_ms;
  }
}

TEST(DeadlineTest, ExpiresAfterItsDurationAndNotBefore) {
  const int64_t start_ns = NowNs();
  const Deadline deadline = Deadline::AfterMs(20);
  while (!deadline.expired()) ::poll(nullptr, 0, deadline.remaining_ms());
  EXPECT_GE(NowNs() - start_ns, 20'000'000);
}

TEST(DeadlineTest, RemainingTimeIsRoundedUpSoThatPollDoesNotSpin) {
  const Deadline deadline = Deadline::AfterMs(60'000);
  EXPECT_GT(deadline.remaining_ms(), 0);
  EXPECT_LE(deadline.remaining_ms(), 60'000);
  const Deadline soon = Deadline::AfterMs(2);
  do {
    const int left_ms = soon.remaining_ms();
    if (!soon.expired()) {
      EXPECT_GE(left_ms, 1);
    }
  } while (!soon.expired());
}

TEST(DeadlineTest, VeryLongDurationsSaturateInsteadOfWrapping) {
  for (int64_t duration_ms : {kLongest, kLongest / 1'000'000, kLongest / 2}) {
    const Deadline deadline = Deadline::AfterMs(duration_ms);
    EXPECT_FALSE(deadline.expired()) << duration_ms;
    EXPECT_EQ(deadline.remaining_ms(), std::numeric_limits<int>::max());
  }
}

TEST(DeadlineTest, EarlierPicksTheOneThatExpiresFirst) {
  const Deadline past = Deadline::AfterMs(0);
  const Deadline future = Deadline::AfterMs(60'000);
  EXPECT_TRUE(Deadline::Earlier(past, future).expired());
  EXPECT_TRUE(Deadline::Earlier(future, past).expired());
  EXPECT_FALSE(Deadline::Earlier(future, future).expired());
}

TEST(UsableCpusTest, IsAtLeastOneAndNeverMoreThanTheMachineHas) {
  EXPECT_GE(UsableCpus(), 1);
  EXPECT_LE(UsableCpus(),
            static_cast<int>(std::thread::hardware_concurrency()));
}

// Wall time minus CPU time of this thread, over `pauses` pauses.
int64_t OffCpuNs(Backoff* backoff, int pauses) {
  timespec before, after;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  const int64_t start_ns = NowNs();
  for (int i = 0; i < pauses; ++i) backoff->Pause();
  const int64_t wall_ns = NowNs() - start_ns;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  const int64_t cpu_ns = (after.tv_sec - before.tv_sec) * 1'000'000'000 +
                         (after.tv_nsec - before.tv_nsec);
  return wall_ns - cpu_ns;
}

TEST(BackoffTest, APatientWaiterSleepsInsteadOfBurningItsCore) {
  Backoff backoff;
  for (int i = 0; i < 5000; ++i) backoff.Pause();  // past spins and yields
  // 200 sleeps of at least 20 us each are off the CPU.
  EXPECT_GE(OffCpuNs(&backoff, 200), 200 * 20'000 / 2);
}

TEST(BackoffTest, ResetStartsPatienceAnew) {
  Backoff backoff;
  for (int i = 0; i < 5000; ++i) backoff.Pause();
  backoff.Reset();
  // The first pauses are spins or yields again, which consume the CPU. On a
  // busy machine any one try may be preempted, so the smallest of several
  // counts.
  int64_t smallest_ns = kLongest;
  for (int attempt = 0; attempt < 20; ++attempt) {
    backoff.Reset();
    smallest_ns = std::min(smallest_ns, OffCpuNs(&backoff, 100));
  }
  EXPECT_LT(smallest_ns, 100 * 20'000);
}

TEST(BackoffTest, MoreRanksThanCpusStillMakeProgress) {
  Backoff backoff(/*ranks_on_host=*/1 << 20);
  const Deadline deadline = Deadline::AfterMs(30'000);
  std::atomic<bool> arrived{false};
  std::thread peer([&] { arrived.store(true); });
  while (!arrived.load() && !deadline.expired()) backoff.Pause();
  EXPECT_TRUE(arrived.load());
  peer.join();
}

}  // namespace
}  // namespace rondo
