#include "collectives/algorithms/algorithms.h"

#include <algorithm>
#include <bit>
#include <random>
#include <set>

#include "collectives/plan/plan.h"
#include "collectives/plan/verifier.h"
#include "fmt/format.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

constexpr int kMostRanks = 64;

RankOrder Shuffled(int ranks) {
  RankOrder order = RankOrder::Identity(ranks);
  std::mt19937 random(ranks);
  std::shuffle(order.at.begin(), order.at.end(), random);
  return order;
}

// The identity and a shuffled order of `ranks`.
std::vector<RankOrder> OrdersOf(int ranks) {
  return {RankOrder::Identity(ranks), Shuffled(ranks)};
}

// What a ring of `order` carries: `blocks` from each rank to its right
// neighbour, nothing else.
std::map<std::pair<int, int>, int64_t> RingLinks(const RankOrder& order,
                                                 int64_t blocks) {
  std::map<std::pair<int, int>, int64_t> links;
  if (blocks == 0) return links;
  for (int i = 0; i < order.ranks(); ++i) {
    links[{order.at[i], order.at[(i + 1) % order.ranks()]}] = blocks;
  }
  return links;
}

// The proof of a ring that carries `rounds` times p - 1 blocks per link.
void ExpectRing(const Shape& shape, const RankOrder& order, int rounds) {
  SCOPED_TRACE(fmt::format("{} of {} ranks", CollectiveName(shape.collective),
                           order.ranks()));
  const Result<PlanFacts> facts = VerifyShape(shape);
  ASSERT_TRUE(facts.ok()) << facts.status().message();
  const int64_t hops = int64_t{rounds} * (order.ranks() - 1);
  EXPECT_EQ(facts->blocks_per_link, RingLinks(order, hops));
  EXPECT_EQ(facts->max_blocks_sent, hops);
  EXPECT_EQ(facts->max_blocks_received, hops);
  EXPECT_EQ(facts->longest_chain, hops);
}

// Every pair of ranks exchanges `blocks` blocks, without any message.
void ExpectDirect(const Shape& shape, int64_t blocks) {
  const Result<PlanFacts> facts = VerifyShape(shape);
  ASSERT_TRUE(facts.ok()) << shape.ranks << ": " << facts.status().message();
  std::map<std::pair<int, int>, int64_t> links;
  for (int from = 0; from < shape.ranks; ++from) {
    for (int to = 0; to < shape.ranks; ++to) {
      if (from != to) links[{from, to}] = blocks;
    }
  }
  EXPECT_EQ(facts->blocks_per_link, links);
}

TEST(DirectTest, EveryShapeIsProvedAndMovesEachBlockOnce) {
  for (int ranks = 1; ranks <= kMostRanks; ++ranks) {
    ExpectDirect(DirectAllGather(ranks), 1);
    ExpectDirect(DirectAllGatherPush(ranks), 1);
    ExpectDirect(DirectReduceScatter(ranks), 1);
    ExpectDirect(DirectShardedStep(ranks), 2);
    ExpectDirect(DirectShardedStepPush(ranks), 2);
    ExpectDirect(DirectReduceUpdate(ranks), 1);
    ExpectDirect(DirectUpdateGather(ranks), 1);
    ExpectDirect(DirectUpdateGatherPush(ranks), 1);
  }
}

TEST(DirectTest, SumsInRankOrderOnEveryRank) {
  for (int rank = 0; rank < 5; ++rank) {
    const RankProgram program = DirectReduceScatter(5).ForRank(rank);
    ASSERT_EQ(program.chunk.size(), 1u);
    for (int owner = 0; owner < 5; ++owner) {
      EXPECT_EQ(program.chunk[0].sources[owner].owner, owner);
    }
  }
}

TEST(RingTest, AllGatherIsProvedAndSendsOnlyToTheNeighbourAtTheLowerBound) {
  for (int ranks = 1; ranks <= kMostRanks; ++ranks) {
    for (const RankOrder& order : OrdersOf(ranks)) {
      ExpectRing(RingAllGather(order), order, 1);
    }
  }
}

TEST(RingTest, ReduceScatterIsProvedAndSendsOnlyToTheNeighbourAtTheLowerBound) {
  for (int ranks = 1; ranks <= kMostRanks; ++ranks) {
    for (const RankOrder& order : OrdersOf(ranks)) {
      ExpectRing(RingReduceScatter(order), order, 1);
    }
  }
}

TEST(RingTest, ShardedStepIsProvedAndCostsExactlyItsTwoHalves) {
  for (int ranks = 1; ranks <= kMostRanks; ++ranks) {
    for (const RankOrder& order : OrdersOf(ranks)) {
      ExpectRing(RingShardedStep(order), order, 2);
      ExpectRing(RingReduceUpdate(order), order, 1);
      ExpectRing(RingUpdateGather(order), order, 1);
    }
  }
}

TEST(RingTest, AreProvedInEachPlacementByItself) {
  for (int ranks : {1, 2, 3, 8}) {
    const RankOrder order = Shuffled(ranks);
    for (Placement placement : {Placement::kOutOfPlace, Placement::kInPlace}) {
      EXPECT_TRUE(VerifyShape(RingAllGather(order), placement).ok());
      EXPECT_TRUE(VerifyShape(RingReduceScatter(order), placement).ok());
    }
    EXPECT_FALSE(VerifyShape(RingShardedStep(order), Placement::kInPlace).ok());
  }
}

TEST(RingTest, ScratchIsTwoBlocksHoweverManyRanks) {
  EXPECT_EQ(RingReduceScatter(RankOrder::Identity(1)).ForRank(0).scratch_blocks,
            0);
  EXPECT_EQ(RingReduceScatter(RankOrder::Identity(2)).ForRank(0).scratch_blocks,
            1);
  EXPECT_EQ(RingShardedStep(RankOrder::Identity(64)).ForRank(9).scratch_blocks,
            2);
  EXPECT_EQ(RingAllGather(RankOrder::Identity(64)).ForRank(9).scratch_blocks,
            0);
}

// Block b's sum travels from the rank after b in the order to b: so rank r's
// last reduce adds its own input to what came along the whole ring.
TEST(RingTest, ReduceScatterSumsInTheOrderOfTheRing) {
  const RankOrder order = Shuffled(5);
  for (int position = 0; position < 5; ++position) {
    const int rank = order.at[position];
    const RankProgram program = RingReduceScatter(order).ForRank(rank);
    std::vector<int> reduced;
    for (const Step& step : program.chunk) {
      if (step.kind != StepKind::kReduce) continue;
      ASSERT_EQ(step.sources.size(), 2u);
      EXPECT_EQ(step.sources[0].space, Space::kScratch);
      EXPECT_EQ(step.sources[1].space, Space::kInput);
      reduced.push_back(step.sources[1].index);
    }
    std::vector<int> want;
    for (int back = 2; back <= 5; ++back) {
      want.push_back(order.at[(position + 5 - back + 5) % 5]);
    }
    EXPECT_EQ(reduced, want) << "rank " << rank;
  }
}

TEST(RingTest, OneRankOnlyCopiesReducesOrUpdates) {
  const RankOrder one = RankOrder::Identity(1);
  const auto only_step = [](const Shape& shape) {
    const RankProgram program = shape.ForRank(0);
    EXPECT_TRUE(program.prologue.empty() && program.epilogue.empty());
    EXPECT_EQ(program.chunk.size(), 1u);
    return program.chunk.at(0);
  };
  EXPECT_EQ(only_step(RingAllGather(one)).kind, StepKind::kCopy);
  EXPECT_EQ(only_step(RingReduceScatter(one)).kind, StepKind::kReduce);
  EXPECT_TRUE(only_step(RingReduceScatter(one)).completes_sum);
  EXPECT_EQ(only_step(RingShardedStep(one)).kind, StepKind::kUpdate);
}

TEST(ChainBroadcastTest, IsProvedFromEveryRootAlongTheOrder) {
  for (int ranks = 1; ranks <= kMostRanks; ++ranks) {
    const RankOrder order = Shuffled(ranks);
    for (int root : std::set<int>{0, ranks / 2, ranks - 1}) {
      SCOPED_TRACE(fmt::format("{} ranks, root {}", ranks, root));
      const Result<PlanFacts> facts = VerifyShape(ChainBroadcast(order, root));
      ASSERT_TRUE(facts.ok()) << facts.status().message();
      auto links = RingLinks(order, ranks == 1 ? 0 : 1);
      const int last = order.at[(order.PositionOf(root) + ranks - 1) % ranks];
      links.erase({last, root});
      EXPECT_EQ(facts->blocks_per_link, links);
      EXPECT_EQ(facts->longest_chain, ranks - 1);
    }
  }
}

TEST(DisseminationBarrierTest, IsProvedInCeilLog2Rounds) {
  for (int ranks = 1; ranks <= kMostRanks; ++ranks) {
    const Result<PlanFacts> facts = VerifyShape(DisseminationBarrier(ranks));
    ASSERT_TRUE(facts.ok()) << facts.status().message();
    const int rounds = std::bit_width(static_cast<unsigned>(ranks - 1));
    EXPECT_EQ(facts->longest_chain, rounds) << ranks << " ranks";
    EXPECT_EQ(facts->total_steps, int64_t{2} * rounds * ranks);
    EXPECT_TRUE(facts->blocks_per_link.empty());
  }
}

TEST(RankOrderTest, KnowsPermutations) {
  EXPECT_TRUE(RankOrder::Identity(4).IsPermutation());
  EXPECT_TRUE(Shuffled(9).IsPermutation());
  EXPECT_FALSE((RankOrder{{0, 0}}.IsPermutation()));
  EXPECT_FALSE((RankOrder{{0, 2}}.IsPermutation()));
  EXPECT_FALSE((RankOrder{{-1, 0}}.IsPermutation()));
  EXPECT_EQ((RankOrder{{2, 0, 1}}.PositionOf(0)), 1);
  EXPECT_EQ((RankOrder{{2, 0, 1}}.PositionOf(3)), -1);
}

TEST(RankOrderTest, AnOrderThatIsNoPermutationIsRefusedByTheProof) {
  for (const RankOrder& order :
       {RankOrder{{}}, RankOrder{{0, 0}}, RankOrder{{0, 7}},
        RankOrder{{2, 1, -1}}, RankOrder{{1, 1, 0, 0}}}) {
    EXPECT_FALSE(VerifyShape(RingAllGather(order)).ok());
    EXPECT_FALSE(VerifyShape(RingReduceScatter(order)).ok());
    EXPECT_FALSE(VerifyShape(RingShardedStep(order)).ok());
    EXPECT_FALSE(VerifyShape(ChainBroadcast(order, 0)).ok());
  }
  EXPECT_FALSE(VerifyShape(ChainBroadcast(RankOrder::Identity(3), 3)).ok());
  EXPECT_FALSE(VerifyShape(ChainBroadcast(RankOrder::Identity(3), -1)).ok());
  EXPECT_FALSE(VerifyShape(DisseminationBarrier(0)).ok());
}

TEST(ForRankTest, BuildsOneRankOfManyWithoutTheOthers) {
  constexpr int kRanks = 65536;
  const Shape gather = RingAllGather(RankOrder::Identity(kRanks));
  EXPECT_EQ(gather.ForRank(12345).chunk.size(), 4u * (kRanks - 1) + 1);
  EXPECT_EQ(DisseminationBarrier(kRanks).ForRank(9).prologue.size(), 32u);
  const Shape chain = ChainBroadcast(RankOrder::Identity(kRanks), 3);
  EXPECT_EQ(chain.ForRank(2).chunk.size(), 2u);
}

}  // namespace
}  // namespace rondo
