#include "perf/bench/sweep.h"

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

using Counts = std::vector<size_t>;

TEST(SweepTest, FactorMultiplies) {
  const SweepOptions sweep{.min_bytes = 64, .max_bytes = 1024, .factor = 4};
  EXPECT_EQ(SweepCounts(sweep, 2, 4), (Counts{8, 32, 128}));
}

TEST(SweepTest, StepAdds) {
  const SweepOptions sweep{
      .min_bytes = 64, .max_bytes = 200, .step_bytes = 64, .factor = 2};
  EXPECT_EQ(SweepCounts(sweep, 1, 1), (Counts{64, 128, 192}));
}

TEST(SweepTest, RoundsDownToWholeElementsPerBlock) {
  EXPECT_EQ(RoundedCount(1000, 3, 4), 83u);  // 996 bytes
  EXPECT_EQ(RoundedCount(996, 3, 4), 83u);
  EXPECT_EQ(RoundedCount(995, 3, 4), 82u);
}

TEST(SweepTest, KeepsAtLeastOneElementPerBlock) {
  EXPECT_EQ(RoundedCount(1, 64, 8), 1u);
  EXPECT_EQ(RoundedCount(511, 64, 8), 1u);
  EXPECT_EQ(RoundedCount(1024, 64, 8), 2u);
}

TEST(SweepTest, VisitsACountOnce) {
  // 8, 16 and 32 bytes all mean one double for each of 4 ranks.
  const SweepOptions sweep{.min_bytes = 8, .max_bytes = 64, .factor = 2};
  EXPECT_EQ(SweepCounts(sweep, 4, 8), (Counts{1, 2}));
}

TEST(SweepTest, OneSizeWhenBothEndsAreEqual) {
  const SweepOptions sweep{.min_bytes = 4096, .max_bytes = 4096, .factor = 2};
  EXPECT_EQ(SweepCounts(sweep, 4, 4), (Counts{256}));
}

TEST(SweepTest, DefaultIsTheOneSizeOfNcclTests) {
  SweepOptions sweep;
  ASSERT_TRUE(CompleteSweep(&sweep).ok());
  EXPECT_EQ(sweep.min_bytes, 33554432);
  EXPECT_EQ(sweep.max_bytes, 33554432);
}

TEST(SweepTest, AnEndThatIsNotGivenFollowsTheOther) {
  SweepOptions small{.max_bytes = 1024};
  ASSERT_TRUE(CompleteSweep(&small).ok());
  EXPECT_EQ(small.min_bytes, 1024);
  SweepOptions large{.min_bytes = int64_t{1} << 30};
  ASSERT_TRUE(CompleteSweep(&large).ok());
  EXPECT_EQ(large.max_bytes, int64_t{1} << 30);
  SweepOptions rising{.min_bytes = 8};
  ASSERT_TRUE(CompleteSweep(&rising).ok());
  EXPECT_EQ(rising.max_bytes, kDefaultSweepBytes);
}

TEST(SweepTest, RefusesAnEmptyRangeWithBothValues) {
  SweepOptions sweep{.min_bytes = 2048, .max_bytes = 1024};
  const Status status = CompleteSweep(&sweep);
  ASSERT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("2048"), std::string::npos);
  EXPECT_NE(status.message().find("1024"), std::string::npos);
}

}  // namespace
}  // namespace rondo::perf
