#include "perf/compare_mpi/memory_limits.h"

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

constexpr size_t kBytes = size_t{256} << 20;

MemoryLimits SomeLimits() {
  MemoryLimits limits;
  limits.copy_gbs = 20;
  limits.reduce = {{2, 30, StoreHint::kStream}, {4, 40, StoreHint::kCached}};
  return limits;
}

TEST(MemoryLimitsTest, AnAllGatherWritesEveryOutputOnce) {
  // 2 x 268435456 bytes at 20,000 bytes per microsecond.
  EXPECT_NEAR(LeastTimeUs(20, Collective::kAllGather, kBytes, 2, false),
              26843.5456, 1e-6);
  EXPECT_NEAR(LeastTimeUs(20, Collective::kAllGather, kBytes, 4, false),
              53687.0912, 1e-6);
}

TEST(MemoryLimitsTest, InPlaceTheOwnBlockIsThereAlready) {
  EXPECT_NEAR(LeastTimeUs(20, Collective::kAllGather, kBytes, 2, true),
              13421.7728, 1e-6);
}

TEST(MemoryLimitsTest, AReduceScatterReadsAllAndWritesOneShare) {
  for (bool in_place : {false, true}) {
    // 3 x 268435456 bytes at 30,000 bytes per microsecond.
    EXPECT_NEAR(
        LeastTimeUs(30, Collective::kReduceScatter, kBytes, 2, in_place),
        26843.5456, 1e-6);
    // 5 x 268435456 at 40,000.
    EXPECT_NEAR(
        LeastTimeUs(40, Collective::kReduceScatter, kBytes, 4, in_place),
        33554.432, 1e-6);
  }
}

TEST(MemoryLimitsTest, TheFractionIsOneAtTheLimit) {
  const auto fraction = [](double time_us) {
    return *LimitFraction(30, Collective::kReduceScatter, kBytes, 2, false,
                          time_us);
  };
  EXPECT_NEAR(fraction(26843.5456), 1, 1e-9);
  EXPECT_NEAR(fraction(2 * 26843.5456), 0.5, 1e-9);
}

TEST(MemoryLimitsTest, EachCollectiveHasTheLoopThatIsLikeIt) {
  const MemoryLimits limits = SomeLimits();
  EXPECT_EQ(LimitingGbs(limits, Collective::kAllGather, 3), 20);
  EXPECT_EQ(LimitingGbs(limits, Collective::kReduceScatter, 2), 30);
  EXPECT_EQ(LimitingGbs(limits, Collective::kReduceScatter, 4), 40);
  EXPECT_EQ(LimitingGbs(limits, Collective::kReduceScatter, 3), 0);
}

TEST(MemoryLimitsTest, WhatWasNotMeasuredOrFitsTheCacheHasNoFraction) {
  constexpr Collective kGather = Collective::kAllGather;
  EXPECT_FALSE(LimitFraction(0, kGather, kBytes, 2, false, 100));
  EXPECT_FALSE(
      LimitFraction(20, kGather, kLeastLimitedBytes - 1, 2, false, 100));
  EXPECT_FALSE(LimitFraction(20, kGather, kBytes, 2, false, 0));
  EXPECT_TRUE(LimitFraction(20, kGather, kLeastLimitedBytes, 2, false, 100));
}

}  // namespace
}  // namespace rondo::perf
