#include "collectives/plan/printer.h"

#include "collectives/algorithms/algorithms.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace rondo {
namespace {

Shape OneRankShape(RankProgram program) {
  Shape shape;
  shape.algorithm = "by hand";
  shape.for_rank = [program](int) { return program; };
  return shape;
}

TEST(StepTextTest, ShowsEveryKindOfStep) {
  std::vector<Step> list;
  StepList steps(&list);
  const BlockRef out{Space::kOutput, 2, 2};
  const BlockRef in{Space::kInput, 2, 1};
  steps.Send(out, 3, 0);
  steps.Recv(out, 1, 7);
  steps.Put(in, {Space::kOutput, 0, 5});
  steps.Copy({Space::kInput, 1, 1}, out);
  steps.Reduce({{Space::kScratch, 2, 0, 1, 1, 2}, in}, out, true);
  steps.Update({{Space::kScratch, 2, 0, 1, 1, 2}, in},
               {out, {Space::kOutput, 0, 2}});
  steps.Signal(3, kReadyFlag);
  steps.WaitFlag(3, kDoneFlag);
  steps.WaitFlag(3, 5);
  steps.WaitStep(1);
  const std::vector<std::string> want = {
      "send   output[2] -> rank 3 (message 0)",
      "recv   output[2] <- rank 1 (message 7)",
      "put    input[1] -> output[5] of rank 0",
      "copy   input[1] of rank 1 -> output[2]",
      "reduce scratch[0] (block 2) + input[1] -> output[2] (completes the sum)",
      "update scratch[0] (block 2), input[1] -> output[2], output[2] of rank 0",
      "signal flag 0 (ready) to rank 3",
      "wait   flag 1 (done) of rank 3",
      "wait   flag 5 of rank 3",
      "wait   step 1",
  };
  ASSERT_EQ(list.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(StepToText(list[i], 2), want[i]);
  }
}

TEST(StepTextTest, ShowsSetsOfBlocksAndMalformedSteps) {
  EXPECT_EQ(BlockToText({Space::kOutput, 0, 1, 4, 3}, 0), "output[1..9 by 4]");
  EXPECT_EQ(BlockToText({Space::kInput, 1, 2, 1, 2}, 0),
            "input[2..3] of rank 1");
  EXPECT_EQ(StepToText(Step{}, 0), "copy   nothing -> nothing");
}

TEST(ShapeToTextTest, ShowsFactsAndEveryProgram) {
  const Shape shape = RingReduceScatter(RankOrder::Identity(2));
  const Result<PlanFacts> facts = VerifyShape(shape);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(ShapeToText(shape, &*facts),
            R"(ring reduce_scatter, 2 ranks
verified: 10 steps, longest chain 1 transfer
a rank sends at most 1 block and receives at most 1 block
link 0 -> 1: 1 block
link 1 -> 0: 1 block

rank 0, 1 scratch block
  chunk
     0  send   input[1] -> rank 1 (message 0)
     1  recv   scratch[0] (block 0) <- rank 1 (message 0)
     2  wait   step 1
     3  reduce scratch[0] (block 0) + input[0] -> output[0] (completes the sum)
     4  wait   step 0

rank 1, 1 scratch block
  chunk
     0  send   input[0] -> rank 0 (message 0)
     1  recv   scratch[0] (block 1) <- rank 0 (message 0)
     2  wait   step 1
     3  reduce scratch[0] (block 1) + input[1] -> output[1] (completes the sum)
     4  wait   step 0
)");
}

TEST(ShapeToTextTest, SaysWhatWasNotVerifiedAndWhereABroadcastStarts) {
  Shape shape = ChainBroadcast(RankOrder::Identity(1), 0);
  shape.rails = 2;
  EXPECT_EQ(ShapeToText(shape, nullptr),
            R"(chain broadcast, 1 rank, 2 rails, from rank 0
not verified

rank 0
  chunk
     0  copy   input[0] -> output[0]
)");
  EXPECT_EQ(ShapeToText(Shape(), nullptr),
            " all_gather, 1 rank\nnot verified\n");
}

TEST(ShapeToJsonTest, KeepsItsKeysInOrder) {
  const Shape shape = ChainBroadcast(RankOrder::Identity(1), 0);
  const Result<PlanFacts> facts = VerifyShape(shape);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(ShapeToJson(shape, &*facts), R"({
  "collective": "broadcast",
  "algorithm": "chain",
  "ranks": 1,
  "root": 0,
  "rails": 1,
  "verified": true,
  "facts": {
    "max_blocks_sent": 0,
    "max_blocks_received": 0,
    "total_steps": 1,
    "longest_chain": 0,
    "links": []
  },
  "programs": [
    {
      "rank": 0,
      "scratch_blocks": 0,
      "prologue": [],
      "chunk": [
        {
          "kind": "copy",
          "sources": [
            {
              "space": "input",
              "owner": 0,
              "index": 0
            }
          ],
          "destinations": [
            {
              "space": "output",
              "owner": 0,
              "index": 0
            }
          ]
        }
      ],
      "epilogue": []
    }
  ]
}
)");
}

TEST(ShapeToJsonTest, HoldsEveryStepOfARing) {
  const Shape shape = RingShardedStep(RankOrder::Identity(3));
  const auto json = nlohmann::json::parse(ShapeToJson(shape, nullptr));
  EXPECT_EQ(json["verified"], false);
  EXPECT_TRUE(json["facts"].is_null());
  ASSERT_EQ(json["programs"].size(), 3u);
  for (int rank = 0; rank < 3; ++rank) {
    const RankProgram program = shape.ForRank(rank);
    const auto& chunk = json["programs"][rank]["chunk"];
    ASSERT_EQ(chunk.size(), program.chunk.size());
    for (size_t i = 0; i < chunk.size(); ++i) {
      const Step& step = program.chunk[i];
      EXPECT_EQ(chunk[i]["kind"], StepKindName(step.kind));
      EXPECT_EQ(chunk[i].value("message", -1), step.message);
      EXPECT_EQ(chunk[i].value("waits_for", -1), step.waits_for);
      EXPECT_EQ(chunk[i].value("peer", -1), step.peer);
    }
  }
}

TEST(ShapeToJsonTest, ShowsStridedBlocks) {
  RankProgram program;
  StepList(&program.chunk)
      .Copy({Space::kInput, 0, 0, 2, 3}, {Space::kOutput, 0, 0, 1, 3});
  const auto json =
      nlohmann::json::parse(ShapeToJson(OneRankShape(program), nullptr));
  const auto& source = json["programs"][0]["chunk"][0]["sources"][0];
  EXPECT_EQ(source["stride"], 2);
  EXPECT_EQ(source["count"], 3);
}

// The start of every shown event, by rank and kind.
std::multimap<std::pair<int, std::string>, int> LevelsOfTrace(
    const std::string& text) {
  std::multimap<std::pair<int, std::string>, int> levels;
  const auto trace = nlohmann::json::parse(text);
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const double start = event["ts"], duration = event["dur"];
    const int level = event["args"]["level"];
    EXPECT_GE(start, level * 1000.0);
    EXPECT_LE(start + duration, (level + 1) * 1000.0 + 1e-6);
    levels.insert({{event["tid"], event["cat"]}, level});
  }
  return levels;
}

TEST(ShapeToChromeTraceTest, PutsEachHopOfARingInItsOwnTick) {
  const auto levels =
      LevelsOfTrace(ShapeToChromeTrace(RingAllGather(RankOrder::Identity(3))));
  std::multimap<std::pair<int, std::string>, int> want;
  for (int rank = 0; rank < 3; ++rank) {
    want.insert({{rank, "copy"}, 0});
    for (int hop : {0, 1}) {
      want.insert({{rank, "send"}, hop});
      want.insert({{rank, "recv"}, hop});
    }
  }
  EXPECT_EQ(levels, want);
}

TEST(ShapeToChromeTraceTest, ShowsADeadlockedShapeUpToWhereItIsStuck) {
  Shape shape;
  shape.ranks = 2;
  shape.for_rank = [](int rank) {
    RankProgram program;
    StepList steps(&program.chunk);
    steps.Copy({Space::kInput, rank, rank}, {Space::kOutput, rank, rank});
    steps.WaitStep(steps.Recv({Space::kOutput, rank, 1 - rank}, 1 - rank, 0));
    steps.WaitStep(steps.Send({Space::kOutput, rank, rank}, 1 - rank, 0));
    return program;
  };
  const auto levels = LevelsOfTrace(ShapeToChromeTrace(shape));
  EXPECT_EQ(levels.size(), 2u);
  EXPECT_EQ(levels.count({0, "copy"}), 1u);
  EXPECT_EQ(levels.count({1, "copy"}), 1u);
}

}  // namespace
}  // namespace rondo
