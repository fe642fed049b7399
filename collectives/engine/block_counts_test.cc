#include "collectives/engine/block_counts.h"

#include <vector>

#include "gtest/gtest.h"

namespace rondo {
namespace {

TEST(BlockCountsTest, AnEvenListIsTheSameAsACount) {
  const BlockCounts listed({7, 7, 7});
  const BlockCounts counted(7, 3);
  for (const BlockCounts* counts : {&listed, &counted}) {
    EXPECT_TRUE(counts->even());
    EXPECT_TRUE(counts->uneven().empty());
    EXPECT_EQ(counts->blocks(), 3);
    EXPECT_EQ(counts->largest(), 7u);
    EXPECT_EQ(counts->total(), 21u);
    for (int block = 0; block < 3; ++block) {
      EXPECT_EQ((*counts)[block], 7u);
      EXPECT_EQ(counts->Before(block), 7u * block);
    }
  }
}

TEST(BlockCountsTest, UnevenBlocksKeepTheirLengthsAndPlaces) {
  const std::vector<size_t> lengths = {5, 0, 7, 1};
  const BlockCounts counts(lengths);
  EXPECT_FALSE(counts.even());
  EXPECT_EQ(counts.uneven(), lengths);
  EXPECT_EQ(counts.blocks(), 4);
  EXPECT_EQ(counts.largest(), 7u);
  EXPECT_EQ(counts.total(), 13u);
  size_t before = 0;
  for (int block = 0; block < 4; ++block) {
    EXPECT_EQ(counts[block], lengths[block]);
    EXPECT_EQ(counts.Before(block), before);
    before += lengths[block];
  }
}

// The largest times their number is the total only if all are as large.
TEST(BlockCountsTest, OneBlockThatDiffersIsEnoughToBeUneven) {
  for (int odd = 0; odd < 3; ++odd) {
    for (size_t length : {size_t{3}, size_t{5}, size_t{0}}) {
      std::vector<size_t> lengths(3, 4);
      lengths[odd] = length;
      EXPECT_FALSE(BlockCounts(lengths).even()) << odd << ": " << length;
    }
  }
}

TEST(BlockCountsTest, BlocksMayAllBeEmpty) {
  for (const BlockCounts& counts :
       {BlockCounts({0, 0, 0}), BlockCounts(0, 3)}) {
    EXPECT_TRUE(counts.even());
    EXPECT_EQ(counts.blocks(), 3);
    EXPECT_EQ(counts.largest(), 0u);
    EXPECT_EQ(counts.total(), 0u);
    EXPECT_EQ(counts[2], 0u);
    EXPECT_EQ(counts.Before(2), 0u);
  }
}

TEST(BlockCountsTest, NoBlocksAtAllAreEvenAndEmpty) {
  for (const BlockCounts& counts :
       {BlockCounts(), BlockCounts(std::vector<size_t>()), BlockCounts(9, 0)}) {
    EXPECT_TRUE(counts.even());
    EXPECT_EQ(counts.blocks(), 0);
    EXPECT_EQ(counts.total(), 0u);
  }
}

TEST(BlockCountsTest, OneBlockIsAlwaysEven) {
  const BlockCounts counts(std::vector<size_t>{11});
  EXPECT_TRUE(counts.even());
  EXPECT_EQ(counts[0], 11u);
  EXPECT_EQ(counts.Before(0), 0u);
  EXPECT_EQ(counts.total(), 11u);
}

}  // namespace
}  // namespace rondo
