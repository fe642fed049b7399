#include "optimizer/layout/shard_layout.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace rondo {
namespace {

std::vector<ParameterSpec> NamedParameters(const std::vector<size_t>& counts) {
  std::vector<ParameterSpec> parameters;
  for (size_t count : counts) {
    parameters.push_back({"p" + std::to_string(parameters.size()), count});
  }
  return parameters;
}

std::vector<size_t> ShardCounts(size_t total, int ranks, size_t alignment) {
  auto layout = ShardLayout::Create({{"p", total}}, ranks, alignment);
  EXPECT_TRUE(layout.ok()) << layout.status().ToString();
  return layout->shard_counts();
}

TEST(ShardLayoutTest, UnitsAreDealtEvenlyFirstRanksTakeOneMore) {
  EXPECT_EQ(ShardCounts(8, 4, 1), (std::vector<size_t>{2, 2, 2, 2}));
  EXPECT_EQ(ShardCounts(7, 3, 1), (std::vector<size_t>{3, 2, 2}));
  EXPECT_EQ(ShardCounts(4097, 4, 1024),
            (std::vector<size_t>{2048, 1024, 1024, 1}));
}

TEST(ShardLayoutTest, SmallTotalsLeaveTheLastRanksEmpty) {
  EXPECT_EQ(ShardCounts(0, 3, 1024), (std::vector<size_t>{0, 0, 0}));
  EXPECT_EQ(ShardCounts(1, 3, 1024), (std::vector<size_t>{1, 0, 0}));
  EXPECT_EQ(ShardCounts(2, 3, 1), (std::vector<size_t>{1, 1, 0}));
  EXPECT_EQ(ShardCounts(1500, 4, 1024), (std::vector<size_t>{1024, 476, 0, 0}));
}

TEST(ShardLayoutTest, ShardsCutParametersAndParametersCutShards) {
  auto layout = ShardLayout::Create(NamedParameters({3, 0, 10, 2, 0, 1}),
                                    /*world_size=*/2, /*alignment=*/4);
  ASSERT_TRUE(layout.ok()) << layout.status().ToString();
  EXPECT_EQ(layout->shard_counts(), (std::vector<size_t>{8, 8}));
  EXPECT_EQ(layout->RangesOf(0),
            (std::vector<ParameterRange>{{0, 0, 3, 0}, {2, 0, 5, 3}}));
  EXPECT_EQ(layout->RangesOf(1),
            (std::vector<ParameterRange>{
                {2, 5, 5, 8}, {3, 0, 2, 13}, {5, 0, 1, 15}}));
  EXPECT_EQ(layout->ToText(),
            "16 elements in 6 parameters, 2 shards, borders at multiples of 4\n"
            "rank 0: 8 elements from 0, p0[0..3), p2[0..5)\n"
            "rank 1: 8 elements from 8, p2[5..10), p3[0..2), p5[0..1)\n");
}

TEST(ShardLayoutTest, RefusesBadArgumentsByName) {
  auto refused = ShardLayout::Create({{"w", 1}, {"w", 2}}, 2);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("parameter 1 is called 'w'"),
            std::string::npos);
  EXPECT_FALSE(ShardLayout::Create({{"", 1}}, 2).ok());
  EXPECT_FALSE(ShardLayout::Create({{"w", 1}}, 0).ok());
  EXPECT_FALSE(ShardLayout::Create({{"w", 1}}, 2, 0).ok());
  const size_t huge = std::numeric_limits<size_t>::max() / 2;
  auto overflow = ShardLayout::Create({{"a", huge}, {"b", huge}}, 2);
  ASSERT_FALSE(overflow.ok());
  EXPECT_EQ(overflow.status().code(), Code::kInvalidArgument);
}

TEST(ShardLayoutTest, AlignmentMayExceedTheTotalWithoutOverflow) {
  EXPECT_EQ(ShardCounts(5, 2, std::numeric_limits<size_t>::max()),
            (std::vector<size_t>{5, 0}));
}

// Paints every element of the vector with each owner; exactly one is right.
RC_GTEST_PROP(ShardLayoutProperty, ShardsPartitionTheVectorExactly, ()) {
  const auto counts = *rc::gen::container<std::vector<size_t>>(
      rc::gen::inRange<size_t>(0, 200));
  const int ranks = *rc::gen::inRange(1, 20);
  const size_t alignment = *rc::gen::inRange<size_t>(1, 70);
  auto layout = ShardLayout::Create(NamedParameters(counts), ranks, alignment);
  RC_ASSERT(layout.ok());

  std::vector<int> owners(layout->total_count(), 0);
  size_t expected_start = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    RC_ASSERT(layout->shard_offset(rank) == expected_start);
    expected_start += layout->shard_counts()[rank];
    for (size_t i = layout->shard_offset(rank); i < expected_start; ++i) {
      ++owners[i];
    }
  }
  RC_ASSERT(expected_start == layout->total_count());
  RC_ASSERT(std::all_of(owners.begin(), owners.end(),
                        [](int times) { return times == 1; }));
}

RC_GTEST_PROP(ShardLayoutProperty, RangesCoverEachShardInOrder, ()) {
  const auto counts =
      *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, 50));
  const int ranks = *rc::gen::inRange(1, 9);
  const size_t alignment = *rc::gen::inRange<size_t>(1, 20);
  auto layout = ShardLayout::Create(NamedParameters(counts), ranks, alignment);
  RC_ASSERT(layout.ok());

  for (int rank = 0; rank < ranks; ++rank) {
    size_t at = layout->shard_offset(rank);
    for (const ParameterRange& range : layout->RangesOf(rank)) {
      RC_ASSERT(range.count > 0u);
      RC_ASSERT(range.vector_offset == at);
      RC_ASSERT(layout->parameter_offset(range.parameter) + range.offset == at);
      RC_ASSERT(range.offset + range.count <= counts[range.parameter]);
      at += range.count;
    }
    RC_ASSERT(at == layout->shard_offset(rank) + layout->shard_counts()[rank]);
  }
}

RC_GTEST_PROP(ShardLayoutProperty, BordersAreAlignedAndShardsAreEven, ()) {
  const size_t total = *rc::gen::inRange<size_t>(0, 100000);
  const int ranks = *rc::gen::inRange(1, 40);
  const size_t alignment = *rc::gen::inRange<size_t>(1, 3000);
  auto layout = ShardLayout::Create({{"p", total}}, ranks, alignment);
  RC_ASSERT(layout.ok());

  const size_t even_share = total / ranks;
  for (int rank = 0; rank < ranks; ++rank) {
    const size_t start = layout->shard_offset(rank);
    RC_ASSERT(start % alignment == 0u || start == total);
    RC_ASSERT(layout->shard_counts()[rank] <= even_share + alignment);
  }
}

}  // namespace
}  // namespace rondo
