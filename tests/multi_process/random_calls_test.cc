// Random calls between processes, over every mixture of memory, give exact
// results on any number of ranks, however the ranks reach each other.

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/multi_process/rank_group.h"

namespace rondo::testing {
namespace {

constexpr int64_t kEndMs = 60'000;

using Environment = std::map<std::string, std::string>;

// Runs the job, and returns the line of rank 0 that starts with `prefix`.
std::string RunJob(int ranks, const std::vector<std::string>& arguments,
                   const Environment& environment, const std::string& prefix) {
  RankGroup group(ProgramPath("tests/multi_process/random_calls"), ranks);
  EXPECT_TRUE(group.Start(arguments, environment));
  const Deadline end = Deadline::AfterMs(kEndMs);
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(group.WaitForExit(rank, end), 0) << group.Describe();
  }
  EXPECT_TRUE(group.WaitForLines("done", Deadline::AfterMs(0)))
      << group.Describe();
  return group.WaitForLine(0, prefix, Deadline::AfterMs(0)).value_or("");
}

using RanksAndAlgorithm = std::tuple<int, std::string>;

class RandomCallsTest : public ::testing::TestWithParam<RanksAndAlgorithm> {};

TEST_P(RandomCallsTest, AreExactOverEveryMixtureOfMemory) {
  const auto& [ranks, algorithm] = GetParam();
  RunJob(ranks, {std::to_string(ranks), "60"}, {{"RONDO_ALGO", algorithm}},
         "done");
}

INSTANTIATE_TEST_SUITE_P(
    EveryRanksAndAlgorithm, RandomCallsTest,
    ::testing::Combine(::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9),
                       ::testing::Values("auto", "direct", "staged")),
    [](const ::testing::TestParamInfo<RanksAndAlgorithm>& info) {
      return std::get<1>(info.param) + std::to_string(std::get<0>(info.param));
    });

TEST(RandomCallsWithoutReadingTest, AreExactWhereRanksMayNotReadEachOther) {
  for (int ranks : {2, 3, 8}) {
    EXPECT_EQ(RunJob(ranks, {"11", "60", "denied"}, {}, "read "), "read 0");
  }
}

// The control: where they may, these calls do read.
TEST(RandomCallsWithoutReadingTest, OtherwiseTheSameCallsDoRead) {
  const Environment direct = {{"RONDO_ALGO", "direct"}};
  EXPECT_NE(RunJob(2, {"11", "60"}, direct, "read "), "read 0");
}

// UCX then cannot make a segment, and symmetric buffers are ordinary memory.
TEST(RandomCallsWithoutSharingTest, AreExactWhereMemoryCannotBeShared) {
  for (int ranks : {2, 3}) {
    RunJob(ranks, {"12", "60"}, {{"UCX_POSIX_DIR", "/proc/none"}}, "done");
  }
}

}  // namespace
}  // namespace rondo::testing
