// Optimizer steps between processes give the same bits from every mixture of
// memory, and where ranks may not read each other's.

#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/multi_process/rank_group.h"

namespace rondo::testing {
namespace {

constexpr int64_t kEndMs = 60'000;

using Environment = std::map<std::string, std::string>;

struct Outcome {
  std::string bits;  // the same on every rank
  std::string read;  // rank 0's
};

Outcome RunJob(int ranks, const std::vector<std::string>& arguments,
               const Environment& environment = {}) {
  RankGroup group(ProgramPath("tests/multi_process/steps"), ranks);
  EXPECT_TRUE(group.Start(arguments, environment));
  const Deadline end = Deadline::AfterMs(kEndMs);
  Outcome outcome;
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(group.WaitForExit(rank, end), 0) << group.Describe();
    const std::string bits =
        group.WaitForLine(rank, "bits ", Deadline::AfterMs(0)).value_or("");
    if (rank == 0) outcome.bits = bits;
    EXPECT_EQ(bits, outcome.bits) << "rank " << rank;
  }
  outcome.read =
      group.WaitForLine(0, "read ", Deadline::AfterMs(0)).value_or("");
  return outcome;
}

class StepsTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, StepsTest, ::testing::Values(1, 2, 3, 5));

TEST_P(StepsTest, GiveTheSameBitsFromEveryMixtureOfMemory) {
  const Outcome symmetric =
      RunJob(GetParam(), {"symmetric", "symmetric", "float"});
  EXPECT_EQ(symmetric.bits.substr(0, 5), "bits ");
  EXPECT_EQ(symmetric.read, "read 0");
  for (const char* gradients : {"user", "symmetric", "mixed"}) {
    for (const char* parameters : {"user", "symmetric", "mixed"}) {
      const Outcome outcome =
          RunJob(GetParam(), {gradients, parameters, "float"});
      EXPECT_EQ(outcome.bits, symmetric.bits) << gradients << " " << parameters;
    }
  }
}

TEST_P(StepsTest, GiveTheSameBitsWhereTheyMayNotReadEachOther) {
  const Outcome free = RunJob(GetParam(), {"user", "user", "float"});
  const Outcome mapped =
      RunJob(GetParam(), {"symmetric", "symmetric", "float", "denied"});
  EXPECT_EQ(mapped.bits, free.bits);
  EXPECT_EQ(mapped.read, "read 0");
}

// There a ring does the work, which sums two ranks in the same order.
TEST(StepsWithoutReadingTest, OrdinaryMemoryWorksToo) {
  const Outcome denied = RunJob(2, {"user", "user", "float", "denied"});
  EXPECT_EQ(denied.read, "read 0");
  const Outcome ring =
      RunJob(2, {"user", "user", "float"}, {{"RONDO_ALGO", "ring"}});
  EXPECT_EQ(denied.bits, ring.bits);
}

// Both passes of a clipped step must sum in the same way, or a sum that only
// the second one finds infinite ends in the state.
TEST(StepsWithoutReadingTest, PassesSumAlikeWhereOnlyGradientsAreMapped) {
  const Outcome mixed = RunJob(3, {"symmetric", "user", "half", "denied"});
  EXPECT_EQ(mixed.bits, RunJob(3, {"symmetric", "symmetric", "half"}).bits);
}

// The control: where they may, the same steps do read.
TEST(StepsWithoutReadingTest, OtherwiseTheSameStepsDoRead) {
  EXPECT_NE(RunJob(2, {"user", "user", "float"}).read, "read 0");
}

}  // namespace
}  // namespace rondo::testing
