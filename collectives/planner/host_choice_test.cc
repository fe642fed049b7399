#include "collectives/planner/host_choice.h"

#include "gtest/gtest.h"

namespace rondo {
namespace {

HostCosts Costs() {
  return {.mapped = {1, 0.1},
          .read = {3, 0.15},
          .staged = {0.5, 0.25},
          .ring = {20, 0.5}};
}

TEST(HostChoiceTest, ALineGoesThroughItsPoints) {
  const LinearCost cost = LineThrough(1024, 2.0, 3072, 6.0);
  EXPECT_DOUBLE_EQ(cost.us_per_kib, 2.0);
  EXPECT_DOUBLE_EQ(cost.fixed_us, 0.0);
  EXPECT_DOUBLE_EQ(LineThrough(1024, 3.0, 2048, 4.0).At(4096), 6.0);
}

TEST(HostChoiceTest, NoiseNeverMakesALargerCallCheaper) {
  const LinearCost cost = LineThrough(1024, 5.0, 4096, 4.0);
  EXPECT_DOUBLE_EQ(cost.us_per_kib, 0.0);
  EXPECT_DOUBLE_EQ(cost.At(1 << 20), 5.0);
}

TEST(HostChoiceTest, SmallCallsAreStagedAndLargeOnesAreNot) {
  const auto first = [](size_t bytes, bool mapped) {
    return PredictHostWays(Costs(), {.moved_bytes = bytes, .mapped = mapped})[0]
        .way;
  };
  EXPECT_EQ(first(64, true), HostWay::kStaged);
  EXPECT_EQ(first(64, false), HostWay::kStaged);
  EXPECT_EQ(first(1 << 20, true), HostWay::kMapped);
  EXPECT_EQ(first(1 << 20, false), HostWay::kRead);
}

TEST(HostChoiceTest, WhatIsNotPossibleComesLastAndSaysWhy) {
  const auto ways = PredictHostWays(
      Costs(), {.moved_bytes = 1 << 20, .mapped = false, .can_read = false});
  ASSERT_EQ(ways.size(), 4u);
  EXPECT_EQ(ways[0].way, HostWay::kStaged);
  EXPECT_EQ(ways[1].way, HostWay::kRing);
  EXPECT_EQ(ways[2].why_not, "the memory is not symmetric");
  EXPECT_EQ(ways[3].why_not, "process_vm_readv is not permitted");
}

TEST(HostChoiceTest, StagingIsPreferredWhereItIsCheaperOrTheOnlyWay) {
  // 0.5 + 0.25 k <= 3 + 0.15 k up to k = 25 KiB.
  EXPECT_TRUE(PrefersStaging(Costs(), {.moved_bytes = 25 << 10}));
  EXPECT_FALSE(PrefersStaging(Costs(), {.moved_bytes = 26 << 10}));
  // 2 * (0.5 + 0.25 k) <= 3 + 0.15 k up to k = 5.7 KiB.
  EXPECT_TRUE(PrefersStaging(Costs(), {.moved_bytes = 5 << 10}, 2));
  EXPECT_FALSE(PrefersStaging(Costs(), {.moved_bytes = 6 << 10}, 2));
  EXPECT_TRUE(
      PrefersStaging(Costs(), {.moved_bytes = 1 << 30, .can_read = false}));
  // Not beyond the cache, whatever was measured in it.
  HostCosts cheap = Costs();
  cheap.staged = {0, 0.01};
  EXPECT_TRUE(PrefersStaging(cheap, {.moved_bytes = 512 << 10}));
  EXPECT_FALSE(PrefersStaging(cheap, {.moved_bytes = 513 << 10}));
  EXPECT_FALSE(PrefersStaging(
      Costs(), {.moved_bytes = 64, .can_read = false, .staging_fits = false}));
}

}  // namespace
}  // namespace rondo
