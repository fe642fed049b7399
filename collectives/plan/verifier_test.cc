#include "collectives/plan/verifier.h"

#include <utility>

#include "collectives/algorithms/algorithms.h"
#include "collectives/plan/test_shapes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

const Shape& Gather() {
  static const Shape shape = RingAllGather(RankOrder::Identity(4));
  return shape;
}
const Shape& Scatter() {
  static const Shape shape = RingReduceScatter(RankOrder::Identity(4));
  return shape;
}
const Shape& ShardedStep() {
  static const Shape shape = RingShardedStep(RankOrder::Identity(4));
  return shape;
}

TEST(VerifierTest, AcceptsTheShapesThatTheMutantsStartFrom) {
  const auto nothing = [](std::vector<RankProgram>*) {};
  EXPECT_EQ(ProblemOf(Gather(), nothing), "accepted");
  EXPECT_EQ(ProblemOf(Scatter(), nothing), "accepted");
  EXPECT_EQ(ProblemOf(ShardedStep(), nothing), "accepted");
}

TEST(VerifierTest, CatchesADroppedStep) {
  EXPECT_THAT(
      ProblemOfChunk(Gather(), 2, [](auto* steps) { RemoveStep(steps, 0); }),
      HasSubstr(
          "INVALID_ARGUMENT: ring all_gather of 4 ranks: out of place: rank 2, "
          "chunk step 0 (send   output[2] -> rank 3 (message "
          "0)): output[2] is read but was never written"));
  EXPECT_THAT(ProblemOfChunk(Scatter(), 1,
                             [](auto* steps) {
                               RemoveStep(steps,
                                          FindStep(*steps, StepKind::kReduce));
                             }),
              HasSubstr("before its sum is complete"));
  EXPECT_THAT(ProblemOfChunk(ShardedStep(), 1,
                             [](auto* steps) {
                               RemoveStep(steps,
                                          FindStep(*steps, StepKind::kUpdate));
                             }),
              HasSubstr("output[1] is read but was never written"));
}

TEST(VerifierTest, CatchesASwappedBlock) {
  EXPECT_THAT(ProblemOfChunk(Gather(), 0,
                             [](auto* steps) {
                               const int at =
                                   FindStep(*steps, StepKind::kSend, 2);
                               (*steps)[at].sources[0].index = 0;
                             }),
              HasSubstr("rank 0, chunk step 7 (send   output[0] -> rank 1 "
                        "(message 2)): output[0] and output[2] of rank 1 are "
                        "different blocks"));
  EXPECT_THAT(ProblemOfChunk(Scatter(), 3,
                             [](auto* steps) {
                               const int at =
                                   FindStep(*steps, StepKind::kReduce);
                               (*steps)[at].sources[1].index = 0;
                             }),
              HasSubstr("scratch[0] (block 1) and input[0] are different "
                        "blocks"));
}

TEST(VerifierTest, CatchesABlockSwappedAtBothEndsOfItsMessage) {
  // Rank 0 sends blocks 3 and 2 in the other order, and rank 1 expects that.
  EXPECT_THAT(
      ProblemOf(Gather(),
                [](auto* programs) {
                  auto& sender = (*programs)[0].chunk;
                  auto& receiver = (*programs)[1].chunk;
                  const auto kSend = StepKind::kSend;
                  const auto kRecv = StepKind::kRecv;
                  std::swap(sender[FindStep(sender, kSend, 1)].sources,
                            sender[FindStep(sender, kSend, 2)].sources);
                  std::swap(
                      receiver[FindStep(receiver, kRecv, 1)].destinations,
                      receiver[FindStep(receiver, kRecv, 2)].destinations);
                }),
      HasSubstr("rank 0, chunk step 4 (send   output[2] -> rank 1 "
                "(message 1)): output[2] is read but was never "
                "written"));
  // The reduce believes that scratch holds another block than was received.
  EXPECT_THAT(ProblemOfChunk(
                  Scatter(), 3,
                  [](auto* steps) {
                    Step& step = (*steps)[FindStep(*steps, StepKind::kReduce)];
                    step.sources[0].block = 0;
                    step.sources[1].index = 0;
                    step.destinations[0].block = 0;
                  }),
              HasSubstr("scratch[0] (block 0) holds block 1 of rank 2"));
}

TEST(VerifierTest, CatchesAMissingWait) {
  EXPECT_THAT(
      ProblemOfChunk(Gather(), 1,
                     [](auto* steps) {
                       RemoveStep(steps, FindStep(*steps, StepKind::kWait));
                     }),
      HasSubstr("rank 1, chunk step 2 (recv   output[0] <- rank 0 (message "
                "0)): nobody waits for this transfer"));
  // Waited for, but only after its data was used.
  EXPECT_THAT(ProblemOfChunk(Gather(), 1,
                             [](auto* steps) {
                               const int wait =
                                   FindStep(*steps, StepKind::kWait);
                               SwapSteps(steps, wait, wait + 1);
                             }),
              HasSubstr("output[0] is read while a transfer into it is in "
                        "flight: rank 1, chunk step 2"));
}

TEST(VerifierTest, CatchesADoubleContribution) {
  EXPECT_THAT(ProblemOfChunk(Scatter(), 2,
                             [](auto* steps) {
                               const int at =
                                   FindStep(*steps, StepKind::kReduce);
                               auto& sources = (*steps)[at].sources;
                               sources.push_back(sources[1]);
                             }),
              HasSubstr("the contribution of rank 2 to block 0 is summed "
                        "twice"));
  EXPECT_THAT(ProblemOfChunk(ShardedStep(), 2,
                             [](auto* steps) {
                               const int at =
                                   FindStep(*steps, StepKind::kUpdate);
                               auto& sources = (*steps)[at].sources;
                               sources.push_back(sources[0]);
                             }),
              HasSubstr("is summed twice"));
}

TEST(VerifierTest, CatchesADeadlockAndNamesEveryStuckRank) {
  const Shape shape = ByHand(Collective::kAllGather, 3, [](int rank) {
    RankProgram program;
    StepList steps(&program.chunk);
    const int right = (rank + 1) % 3, left = (rank + 2) % 3;
    steps.Copy(In(rank, rank), Out(rank, rank));
    // Each waits for its send before it posts the recv that its left needs.
    steps.WaitStep(steps.Send(Out(rank, rank), right, 0));
    steps.WaitStep(steps.Recv(Out(rank, left), left, 0));
    return program;
  });
  const Result<PlanFacts> facts = VerifyShape(shape);
  ASSERT_FALSE(facts.ok());
  const std::string& message = facts.status().message();
  EXPECT_THAT(message, HasSubstr("deadlock: 3 of 3 ranks never finish"));
  for (int rank : {0, 1, 2}) {
    const std::string name = "rank " + std::to_string(rank);
    EXPECT_THAT(message, HasSubstr("stuck at " + name +
                                   ", chunk step 2 (wait   step 1), which is " +
                                   name + ", chunk step 1 (send   output["));
  }
}

TEST(VerifierTest, CatchesADeadlockOfFlagsButLetsOtherRanksPass) {
  const Shape shape = ByHand(Collective::kBarrier, 3, [](int rank) {
    RankProgram program;
    StepList steps(&program.prologue);
    if (rank == 2) return program;
    steps.WaitFlag(1 - rank, 4);
    steps.Signal(1 - rank, 4);
    return program;
  });
  EXPECT_THAT(VerifyShape(shape).status().message(),
              HasSubstr("deadlock: 2 of 3 ranks never finish; stuck at rank 0, "
                        "prologue step 0 (wait   flag 4 of rank 1); stuck at "
                        "rank 1, prologue step 0 (wait   flag 4 of rank 0)"));
}

TEST(VerifierTest, CatchesAnUpdateBeforeItsReductionIsComplete) {
  EXPECT_THAT(ProblemOfChunk(ShardedStep(), 3,
                             [](auto* steps) {
                               const int at =
                                   FindStep(*steps, StepKind::kUpdate);
                               (*steps)[at].sources.pop_back();
                             }),
              HasSubstr("updates a block before its sum is complete: it has "
                        "block 3 of ranks 0, 1, 2"));
}

TEST(VerifierTest, CatchesAnUpdateOfABlockTwiceOrOnTheWrongRank) {
  EXPECT_THAT(ProblemOfChunk(ShardedStep(), 3,
                             [](auto* steps) {
                               StepList(steps).Update({Out(3, 3)}, {Out(3, 3)});
                             }),
              HasSubstr("output[3] is both read and written"));
  EXPECT_THAT(ProblemOfChunk(ShardedStep(), 3,
                             [](auto* steps) {
                               StepList(steps).Reduce({Out(3, 3)},
                                                      Scratch(3, 0, 3), false);
                             }),
              HasSubstr("block 3 was updated already"));
  // Both parts are there, but a second update would advance the state twice.
  const Shape twice = ByHand(Collective::kShardedStep, 1, [](int) {
    RankProgram program;
    StepList steps(&program.chunk);
    steps.Update({In(0, 0)}, {Out(0, 0)});
    steps.Update({In(0, 0)}, {Out(0, 0)});
    return program;
  });
  EXPECT_THAT(VerifyShape(twice).status().message(),
              HasSubstr("updates this shard for the second time"));
  Shape direct = DirectShardedStep(2);
  EXPECT_THAT(
      ProblemOf(direct,
                [](auto* programs) {
                  for (int rank : {0, 1}) {
                    Step& step = (*programs)[rank].chunk[0];
                    for (auto* blocks : {&step.sources, &step.destinations}) {
                      for (BlockRef& block : *blocks) {
                        block.index = 1 - rank;
                      }
                    }
                  }
                }),
      HasSubstr("which is rank"));
}

TEST(VerifierTest, CatchesAWrongMessageNumber) {
  EXPECT_THAT(ProblemOfChunk(Gather(), 0,
                             [](auto* steps) {
                               const int at =
                                   FindStep(*steps, StepKind::kSend, 1);
                               (*steps)[at].message = 9;
                             }),
              HasSubstr("unmatched: rank 1 never receives message 9 from this "
                        "rank"));
  EXPECT_THAT(ProblemOfChunk(Gather(), 0,
                             [](auto* steps) {
                               const int at =
                                   FindStep(*steps, StepKind::kSend, 1);
                               (*steps)[at].message = 0;
                             }),
              HasSubstr("message 0 was used before with this peer"));
  // Both numbers exist, but each recv gets the other's block.
  EXPECT_THAT(
      ProblemOfChunk(Gather(), 0,
                     [](auto* steps) {
                       const int a = FindStep(*steps, StepKind::kRecv);
                       const int b = FindStep(*steps, StepKind::kRecv, 1);
                       std::swap((*steps)[a].message, (*steps)[b].message);
                     }),
      HasSubstr("output[3] and output[2] of rank 3 are different blocks"));
}

TEST(VerifierTest, CatchesAWriteToAnInput) {
  EXPECT_THAT(ProblemOfChunk(Scatter(), 1,
                             [](auto* steps) {
                               const int at =
                                   FindStep(*steps, StepKind::kReduce, 2);
                               StepList(steps).Copy(
                                   (*steps)[at].destinations[0], In(1, 1));
                             }),
              HasSubstr("input[1] is an input and must not be written"));
}

TEST(VerifierTest, CatchesAWriteToAnInputThatOnlyMattersOutOfPlace) {
  Shape shape = ByHand(Collective::kAllGather, 1, [](int) {
    RankProgram program;
    StepList steps(&program.chunk);
    steps.Copy(In(0, 0), Out(0, 0));
    steps.Copy(Out(0, 0), In(0, 0));
    return program;
  });
  EXPECT_THAT(VerifyShape(shape, Placement::kOutOfPlace).status().message(),
              HasSubstr("input[0] is an input"));
  EXPECT_TRUE(VerifyShape(shape, Placement::kInPlace).ok());
}

TEST(VerifierTest, CatchesWhatIsWrongOnlyInPlace) {
  // The sum is begun in the output, which in place is an input still needed.
  Shape shape = ByHand(Collective::kReduceScatter, 1, [](int) {
    RankProgram program;
    program.scratch_blocks = 1;
    StepList steps(&program.chunk);
    steps.Reduce({In(0, 0)}, Out(0, 0), true);
    steps.Copy(In(0, 0), Scratch(0, 0, 0));
    steps.Reduce({Scratch(0, 0, 0)}, Out(0, 0), true);
    return program;
  });
  EXPECT_TRUE(VerifyShape(shape, Placement::kOutOfPlace).ok());
  EXPECT_THAT(VerifyShape(shape).status().message(),
              HasSubstr("in place: rank 0, chunk step 2"));
}

TEST(VerifierTest, CatchesAnUnmatchedSendAndRecv) {
  EXPECT_THAT(
      ProblemOfChunk(Gather(), 1,
                     [](auto* steps) {
                       RemoveStep(steps, FindStep(*steps, StepKind::kRecv, 2));
                     }),
      HasSubstr("unmatched: rank 1 never receives message 2 from this rank"));
  EXPECT_THAT(
      ProblemOfChunk(Gather(), 1,
                     [](auto* steps) {
                       RemoveStep(steps, FindStep(*steps, StepKind::kSend, 2));
                     }),
      HasSubstr("unmatched: rank 1 never sends message 2 to this rank"));
}

TEST(VerifierTest, CatchesScratchReusedWhileItsSendIsInFlight) {
  const Shape shape = RingReduceScatter(RankOrder::Identity(4));
  EXPECT_THAT(
      ProblemOfChunk(shape, 1,
                     [](std::vector<Step>* steps) {
                       // The wait before the third recv: moved to the
                       // very end.
                       const int recv = FindStep(*steps, StepKind::kRecv, 2);
                       const int wait = recv - 1;
                       ASSERT_EQ((*steps)[wait].kind, StepKind::kWait);
                       const int send = (*steps)[wait].waits_for;
                       ASSERT_EQ((*steps)[send].sources[0], Scratch(1, 0, 3));
                       RemoveStep(steps, wait);
                       StepList(steps).WaitStep(send);
                     }),
      HasSubstr(
          "scratch[0] (block 1) is written while a transfer from it is in "
          "flight: rank 1, chunk step"));
}

TEST(VerifierTest, CatchesARankThatLeavesABarrierEarly) {
  EXPECT_THAT(ProblemOf(DisseminationBarrier(5),
                        [](auto* programs) {
                          // The last round, on both sides of every pair.
                          for (RankProgram& program : *programs) {
                            program.prologue.pop_back();
                            program.prologue.pop_back();
                          }
                        }),
              HasSubstr("rank 0 may leave the barrier before rank 1 has "
                        "arrived"));
  EXPECT_THAT(ProblemOf(DisseminationBarrier(4),
                        [](auto* programs) {
                          // Rank 2 passes the last round's signal on too soon.
                          auto& steps = (*programs)[2].prologue;
                          SwapSteps(&steps, 1, 2);
                        }),
              HasSubstr("rank 0 may leave the barrier before rank 1"));
}

TEST(VerifierTest, CatchesASumThatIsNeverOrTwiceCompleted) {
  const auto flip = [](int nth) {
    return [nth](std::vector<Step>* steps) {
      Step& step = (*steps)[FindStep(*steps, StepKind::kReduce, nth)];
      step.completes_sum = !step.completes_sum;
    };
  };
  EXPECT_THAT(ProblemOfChunk(Scatter(), 0, flip(2)),
              HasSubstr("want block 0 of ranks 0, 1, 2, 3, sum completed"));
  EXPECT_THAT(ProblemOfChunk(Scatter(), 0, flip(0)),
              HasSubstr("completes a block before its sum is complete"));
  EXPECT_THAT(ProblemOfChunk(Scatter(), 0,
                             [](auto* steps) {
                               StepList(steps).Reduce({Out(0, 0)}, Out(0, 0),
                                                      true);
                             }),
              HasSubstr("the sum of block 0 was completed already"));
}

}  // namespace
}  // namespace rondo
