#include "perf/compare_mpi/compared_counts.h"

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

using Counts = std::vector<size_t>;

TEST(ComparedCountsTest, OneOddCountLiesBetweenNeighbours) {
  EXPECT_EQ(ComparedCounts({.min_bytes = 8, .max_bytes = 128}, 2),
            (Counts{1, 2, 3, 4, 7, 8, 13, 16}));
}

TEST(ComparedCountsTest, EverySecondOfTheLargeOnesIsOdd) {
  const Counts counts =
      ComparedCounts({.min_bytes = 1 << 10, .max_bytes = 1 << 28}, 4);
  ASSERT_EQ(counts.size(), 2u * 19 - 1);
  for (size_t i = 0; i < counts.size(); ++i) {
    EXPECT_EQ(counts[i] % 2, i % 2) << counts[i];
    EXPECT_LT(i == 0 ? 0 : counts[i - 1], counts[i]);
  }
  EXPECT_EQ(counts.front(), 64u);
  EXPECT_EQ(counts.back(), size_t{1} << 24);
}

TEST(ComparedCountsTest, OneSizeHasNoNeighbour) {
  EXPECT_EQ(ComparedCounts({.min_bytes = 64, .max_bytes = 64}, 2), Counts{8});
  // Less than an element for every rank is rounded up to one.
  EXPECT_EQ(ComparedCounts({.min_bytes = 8, .max_bytes = 8}, 9), Counts{1});
}

}  // namespace
}  // namespace rondo::perf
