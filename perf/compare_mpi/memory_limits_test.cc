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
  EXPECT_NEAR(
      LeastTimeUs(SomeLimits(), Collective::kAllGather, kBytes, 2, false),
      26843.5456, 1e-6);
  EXPECT_NEAR(
      LeastTimeUs(SomeLimits(), Collective::kAllGather, kBytes, 4, false),
      53687.0912, 1e-6);
}

TEST(MemoryLimitsTest, InPlaceTheOwnBlockIsThereAlready) {
  EXPECT_NEAR(
      LeastTimeUs(SomeLimits(), Collective::kAllGather, kBytes, 2, true),
      13421.7728, 1e-6);
}

TEST(MemoryLimitsTest, AReduceScatterReadsAllAndWritesOneShare) {
  for (bool in_place : {false, true}) {
    // 3 x 268435456 bytes at 30,000 bytes per microsecond.
    EXPECT_NEAR(LeastTimeUs(SomeLimits(), Collective::kReduceScatter, kBytes, 2,
                            in_place),
                26843.5456, 1e-6);
    // 5 x 268435456 at 40,000.
    EXPECT_NEAR(LeastTimeUs(SomeLimits(), Collective::kReduceScatter, kBytes, 4,
                            in_place),
                33554.432, 1e-6);
  }
}

TEST(MemoryLimitsTest, TheFractionIsOneAtTheLimit) {
  const auto fraction = LimitFraction(SomeLimits(), Collective::kReduceScatter,
                                      kBytes, 2, false, 26843.5456);
  ASSERT_TRUE(fraction.has_value());
  EXPECT_NEAR(*fraction, 1, 1e-9);
  EXPECT_NEAR(*LimitFraction(SomeLimits(), Collective::kReduceScatter, kBytes,
                             2, false, 2 * 26843.5456),
              0.5, 1e-9);
}

TEST(MemoryLimitsTest, WhatWasNotMeasuredHasNoFraction) {
  const MemoryLimits limits = SomeLimits();
  EXPECT_FALSE(
      LimitFraction(limits, Collective::kReduceScatter, kBytes, 3, false, 100));
  EXPECT_FALSE(LimitFraction(MemoryLimits(), Collective::kAllGather, kBytes, 2,
                             false, 100));
  EXPECT_FALSE(LimitFraction(limits, Collective::kAllGather,
                             kLeastLimitedBytes - 1, 2, false, 100));
  EXPECT_TRUE(LimitFraction(limits, Collective::kAllGather, kLeastLimitedBytes,
                            2, false, 100));
}

}  // namespace
}  // namespace rondo::perf
