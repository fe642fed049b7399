#include "collectives/algorithms/algorithms.h"
#include "collectives/plan/test_shapes.h"
#include "collectives/plan/verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

TEST(VerifierFormTest, UnderstandsSetsOfBlocks) {
  // Every rank sends all its input blocks at once; each sums its own.
  const Shape shape = ByHand(Collective::kReduceScatter, 3, [](int rank) {
    RankProgram program;
    program.scratch_blocks = 9;
    StepList steps(&program.chunk);
    std::vector<int> waits;
    std::vector<BlockRef> parts = {In(rank, rank)};
    for (int i : {1, 2}) {
      const int to = (rank + i) % 3, from = (rank + 3 - i) % 3;
      const int first = 3 * (i - 1);
      waits.push_back(steps.Send({Space::kInput, rank, 0, 1, 3}, to, 0));
      waits.push_back(
          steps.Recv({Space::kScratch, rank, first, 1, 3, 0}, from, 0));
      parts.push_back(Scratch(rank, first + rank, rank));
    }
    for (int wait : waits) steps.WaitStep(wait);
    steps.Reduce(parts, Out(rank, rank), true);
    // Blocks 0 and 2 into scratch 6 and 8, strided: allowed, if useless.
    steps.Copy({Space::kInput, rank, 0, 2, 2},
               {Space::kScratch, rank, 6, 2, 2, 0});
    return program;
  });
  const Result<PlanFacts> facts = VerifyShape(shape);
  ASSERT_TRUE(facts.ok()) << facts.status().message();
  EXPECT_EQ(facts->max_blocks_sent, 6);
  const auto change_copy = [](BlockRef from, BlockRef to) {
    return [from, to](std::vector<Step>* steps) {
      steps->back().sources = {from};
      steps->back().destinations = {to};
    };
  };
  EXPECT_THAT(ProblemOfChunk(shape, 0,
                             change_copy({Space::kScratch, 0, 0, 1, 2, 0},
                                         {Space::kScratch, 0, 1, 1, 2, 0})),
              HasSubstr("scratch[1] (block 0) is both read and written"));
  EXPECT_THAT(ProblemOfChunk(shape, 0,
                             change_copy({Space::kInput, 0, 0, 1, 3},
                                         {Space::kScratch, 0, 6, 1, 2, 0})),
              HasSubstr("operands of 3 and 2 blocks"));
  EXPECT_THAT(
      ProblemOfChunk(shape, 0,
                     [](auto* steps) { (*steps)[0].sources[0].count = 2; }),
      HasSubstr("message of 2 blocks, but at rank 1 it has 3"));
  EXPECT_THAT(ProblemOfChunk(shape, 0,
                             change_copy({Space::kInput, 0, 1, 2, 2},
                                         {Space::kScratch, 0, 6, 1, 2, 0})),
              HasSubstr("input[1..3 by 2] does not exist: rank 0 has input "
                        "blocks 0..2"));
}

// Replaces rank 0's first chunk step of all_gather.
std::string ProblemOfStep(Step step) {
  return ProblemOfChunk(DirectAllGather(3), 0, [&](auto* steps) {
    steps->insert(steps->begin(), step);
  });
}

TEST(VerifierFormTest, CatchesMalformedSteps) {
  Step step;
  EXPECT_THAT(ProblemOfStep(step), HasSubstr("has 0 sources"));
  step.sources = {In(0, 0)};
  step.destinations = {Out(3, 0)};
  EXPECT_THAT(ProblemOfStep(step),
              HasSubstr("owner 3 is out of range; want 0..2"));
  step.destinations = {Out(0, 0), Out(0, 0)};
  EXPECT_THAT(ProblemOfStep(step), HasSubstr("output[0] is written twice"));
  step.destinations = {Out(0, 3)};
  EXPECT_THAT(ProblemOfStep(step), HasSubstr("output[3] does not exist"));
  step.destinations = {Scratch(0, 0, 0)};
  EXPECT_THAT(ProblemOfStep(step), HasSubstr("rank 0 has scratch blocks none"));
  step.destinations = {Out(0, 0)};
  step.sources = {In(0, 1)};
  EXPECT_THAT(ProblemOfStep(step), HasSubstr("rank 0 has input blocks 0..0"));
  step.sources = {{Space::kInput, 0, 0, 1, 0}};
  EXPECT_THAT(ProblemOfStep(step), HasSubstr("0 blocks with stride 1"));
  step.sources = {In(0, 0)};
  step.kind = StepKind::kReduce;
  EXPECT_THAT(ProblemOfStep(step),
              HasSubstr("all_gather has no use for reduce"));
  step.kind = StepKind::kPut;
  step.peer = 3;
  EXPECT_THAT(ProblemOfStep(step),
              HasSubstr("peer 3 is out of range; want 0..2"));
  step.peer = 0;
  EXPECT_THAT(ProblemOfStep(step), HasSubstr("a rank is not its own peer"));
  step.peer = 1;
  EXPECT_THAT(ProblemOfStep(step),
              HasSubstr("output[0] is not a space of peer 1"));
}

TEST(VerifierFormTest, CatchesMalformedFlagsMessagesAndWaits) {
  Step send{.kind = StepKind::kSend,
            .sources = {In(0, 0)},
            .destinations = {},
            .peer = 1,
            .message = -3};
  EXPECT_THAT(ProblemOfStep(send), HasSubstr("message number -3 is negative"));
  Step wait;
  wait.kind = StepKind::kWait;
  wait.waits_for = 0;  // itself
  EXPECT_THAT(ProblemOfStep(wait),
              HasSubstr("step 0 is not an earlier send, recv or put"));
  wait.flag = 2;
  EXPECT_THAT(ProblemOfStep(wait), HasSubstr("both a step and a flag"));
  Step signal;
  signal.kind = StepKind::kSignal;
  signal.peer = 1;
  signal.flag = 2;
  EXPECT_THAT(ProblemOfStep(signal),
              HasSubstr("a flag is raised once per call"));
  EXPECT_THAT(ProblemOf(DirectAllGather(2),
                        [](auto* programs) {
                          (*programs)[0].prologue[0].flag = kMaxFlags;
                        }),
              HasSubstr("flag 24 is out of range; want 0..23"));
  EXPECT_THAT(ProblemOf(DirectAllGather(2),
                        [](auto* programs) {
                          auto& program = (*programs)[0];
                          program.prologue.push_back(program.chunk[0]);
                        }),
              HasSubstr("only signals and waits for flags"));
  EXPECT_THAT(ProblemOf(DirectAllGather(2),
                        [](auto* programs) {
                          auto& steps = (*programs)[0].prologue;
                          steps.push_back(steps[0]);
                        }),
              HasSubstr("flag 0 (ready) was used before with this peer"));
  EXPECT_THAT(
      ProblemOfChunk(RingAllGather(RankOrder::Identity(4)), 0,
                     [](auto* steps) { steps->push_back(steps->back()); }),
      HasSubstr("was waited for before"));
}

TEST(VerifierFormTest, RefusesShapesWhoseFieldsMakeNoSense) {
  Shape shape = DirectAllGather(2);
  shape.rails = 0;
  EXPECT_THAT(VerifyShape(shape).status().message(), HasSubstr("0 rails"));
  shape = DirectAllGather(2);
  shape.root = 2;
  EXPECT_THAT(VerifyShape(shape).status().message(),
              HasSubstr("root 2 is out of range; want 0..1"));
  shape = DirectAllGather(2);
  shape.ranks = 5000;
  EXPECT_THAT(VerifyShape(shape).status().message(),
              HasSubstr("5000 ranks; a proof covers 1..4096"));
  EXPECT_THAT(VerifyShape(Shape()).status().message(),
              HasSubstr("no for_rank"));
  EXPECT_THAT(
      ProblemOf(DirectAllGather(2),
                [](auto* programs) { (*programs)[1].scratch_blocks = -1; }),
      HasSubstr("rank 1: -1 scratch blocks"));
  EXPECT_THAT(ProblemOf(DisseminationBarrier(2),
                        [](auto* programs) {
                          (*programs)[1].scratch_blocks = 1;
                          StepList(&(*programs)[1].chunk)
                              .Copy(Scratch(1, 0, 0), Scratch(1, 0, 0));
                        }),
              HasSubstr("barrier has no blocks"));
}

}  // namespace
}  // namespace rondo
