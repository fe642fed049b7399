#include "collectives/plan/test_shapes.h"
#include "collectives/plan/verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

// Shapes in which ranks touch each other's spaces: what the verifier accepts
// and which mutants it refuses.

using ::testing::HasSubstr;

TEST(VerifierPeerTest, AcceptsDirectShapes) {
  for (int ranks : {1, 2, 3, 5, 8, 33, 64}) {
    for (const Shape& shape :
         {DirectAllGather(ranks), DirectReduceScatter(ranks),
          DirectShardedStep(ranks), PushAllGather(ranks)}) {
      const Result<PlanFacts> facts = VerifyShape(shape);
      ASSERT_TRUE(facts.ok()) << facts.status().message();
      const int rounds = shape.collective == Collective::kShardedStep ? 2 : 1;
      EXPECT_EQ(facts->max_blocks_sent, rounds * (ranks - 1));
      EXPECT_EQ(facts->max_blocks_received, rounds * (ranks - 1));
      // Ready, the bytes, done: however many ranks.
      EXPECT_EQ(facts->longest_chain, ranks == 1 ? 0 : 3);
    }
  }
}

TEST(VerifierPeerTest, CatchesAPeersSpaceTouchedBeforeItsReady) {
  // Both sides forget the flag from rank 2 to rank 0.
  const auto forget = [](std::vector<RankProgram>* programs) {
    auto& waiter = (*programs)[0].prologue;
    for (int i = 0; i < static_cast<int>(waiter.size()); ++i) {
      if (waiter[i].kind == StepKind::kWait && waiter[i].peer == 2) {
        RemoveStep(&waiter, i);
      }
    }
    auto& raiser = (*programs)[2].prologue;
    for (int i = 0; i < static_cast<int>(raiser.size()); ++i) {
      if (raiser[i].kind == StepKind::kSignal && raiser[i].peer == 0) {
        RemoveStep(&raiser, i);
      }
    }
  };
  EXPECT_THAT(ProblemOf(DirectAllGather(3), forget),
              HasSubstr("rank 0, chunk step 2 (copy   input[2] of rank 2 -> "
                        "output[2]): input[2] of rank 2 is touched before the "
                        "ready flag of rank 2 was waited for"));
  EXPECT_THAT(ProblemOf(DirectReduceScatter(3), forget),
              HasSubstr("before the ready flag of rank 2"));
  EXPECT_THAT(ProblemOf(DirectShardedStep(3), forget),
              HasSubstr("before the ready flag of rank 2"));
  EXPECT_THAT(ProblemOf(PushAllGather(3), forget),
              HasSubstr("before the ready flag of rank 2"));
}

TEST(VerifierPeerTest, CatchesAPeersSpaceTouchedAfterOurDone) {
  const auto hurry = [](std::vector<RankProgram>* programs) {
    // Rank 0 says that it is done before it has begun.
    auto& program = (*programs)[0];
    const Step done = program.epilogue[0];
    ASSERT_EQ(done.flag, kDoneFlag);
    RemoveStep(&program.epilogue, 0);
    program.prologue.push_back(done);
  };
  EXPECT_THAT(ProblemOf(DirectAllGather(3), hurry),
              HasSubstr("input[1] of rank 1 is touched after the done flag was "
                        "raised"));
  EXPECT_THAT(ProblemOf(DirectReduceScatter(3), hurry),
              HasSubstr("after the done flag"));
  EXPECT_THAT(ProblemOf(DirectShardedStep(3), hurry),
              HasSubstr("after the done flag"));
  EXPECT_THAT(ProblemOf(PushAllGather(3), hurry),
              HasSubstr("after the done flag"));
}

TEST(VerifierPeerTest, CatchesARankThatDoesNotWaitUntilItsPeersAreDone) {
  const auto impatient = [](std::vector<RankProgram>* programs) {
    (*programs)[1].epilogue.pop_back();  // its last wait, for rank 0's done
    auto& raiser = (*programs)[0].epilogue;
    RemoveStep(&raiser, FindStep(raiser, StepKind::kSignal));  // to rank 1
  };
  for (const Shape& shape : {DirectAllGather(3), DirectReduceScatter(3),
                             DirectShardedStep(3), PushAllGather(3)}) {
    EXPECT_THAT(ProblemOf(shape, impatient),
                HasSubstr("rank 1 may finish while rank 0 still touches its "
                          "spaces: it does not wait for flag 1 (done) of rank "
                          "0"));
  }
}

TEST(VerifierPeerTest, CatchesAFlagThatOnlyOneSideKnows) {
  EXPECT_THAT(ProblemOf(DirectAllGather(2),
                        [](auto* programs) {
                          RemoveStep(&(*programs)[0].epilogue, 1);
                        }),
              HasSubstr("unmatched: rank 0 never waits for this flag"));
  EXPECT_THAT(ProblemOf(DirectAllGather(2),
                        [](auto* programs) {
                          RemoveStep(&(*programs)[0].epilogue, 0);
                        }),
              HasSubstr("unmatched: rank 0 never raises this flag"));
}

TEST(VerifierPeerTest, CatchesWritesToAPeerThatNothingOrders) {
  // Rank 0 also writes a block that rank 1 puts there.
  EXPECT_THAT(
      ProblemOf(PushAllGather(2),
                [](auto* programs) {
                  StepList(&(*programs)[0].chunk).Copy(In(0, 0), Out(0, 1));
                }),
      HasSubstr("output[1]"));
}

TEST(VerifierPeerTest, CatchesADirectReadOfWhatIsWrittenMeanwhile) {
  // Rank 0 copies from rank 1's output, which rank 1 is filling.
  EXPECT_THAT(ProblemOf(DirectAllGather(2),
                        [](auto* programs) {
                          (*programs)[0].chunk[1].sources[0].space =
                              Space::kOutput;
                        }),
              HasSubstr("nothing orders that after its write by rank 1"));
}

// Rank 1 reads rank 0's scratch between two messages; `answer_first` breaks it.
Shape ScratchReader(bool answer_first) {
  return ByHand(Collective::kAllGather, 2, [=](int rank) {
    RankProgram program = DirectAllGather(2).ForRank(rank);
    program.chunk.clear();
    program.scratch_blocks = 1 - rank;
    StepList steps(&program.chunk);
    steps.Copy(In(rank, rank), Out(rank, rank));
    if (rank == 0) {
      steps.Copy(In(0, 0), Scratch(0, 0, 0));
      const int send = steps.Send(Out(0, 0), 1, 0);
      steps.WaitStep(steps.Recv(Out(0, 1), 1, 0));
      steps.WaitStep(send);
      return program;
    }
    steps.WaitStep(steps.Recv(Out(1, 0), 0, 0));
    if (!answer_first) steps.Copy(Scratch(0, 0, 0), Out(1, 0));
    steps.WaitStep(steps.Send(Out(1, 1), 0, 0));
    if (answer_first) steps.Copy(Scratch(0, 0, 0), Out(1, 0));
    return program;
  });
}

TEST(VerifierPeerTest, CatchesScratchThatAPeerReadsIntoTheNextChunk) {
  EXPECT_TRUE(VerifyShape(ScratchReader(false)).ok())
      << VerifyShape(ScratchReader(false)).status().message();
  EXPECT_THAT(
      VerifyShape(ScratchReader(true)).status().message(),
      HasSubstr("rank 0, chunk step 5 (wait   step 2): ends the chunk while "
                "rank 1 may still be touching scratch[0]"));
}

}  // namespace
}  // namespace rondo
