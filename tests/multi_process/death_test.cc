// A rank that dies, or stops answering, in the middle of a collective.

#include <signal.h>
#include <sys/wait.h>

#include <string>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/multi_process/paths.h"
#include "tests/multi_process/rank_group.h"
#include "tests/multi_process/shared_memory_folder.h"

namespace rondo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kRanks = 4;
constexpr int64_t kStartMs = 30'000;
// What is promised to users: a death is an error on all others within this.
constexpr int64_t kNoticeMs = 2'000;
constexpr int64_t kExitMs = 10'000;

std::string Program() { return ProgramPath("tests/multi_process/ranks"); }

void ExpectNamedError(RankGroup* group, int rank, int dead, Deadline deadline) {
  const auto line = group->WaitForLine(rank, "error ", deadline);
  ASSERT_TRUE(line.has_value()) << "rank " << rank << " has no error in time\n"
                                << group->Describe();
  EXPECT_THAT(*line, HasSubstr("REMOTE_DEAD"));
  EXPECT_THAT(*line, HasSubstr("rank " + std::to_string(dead)));
}

void ExpectCleanExit(RankGroup* group, int rank) {
  const auto status = group->WaitForExit(rank, Deadline::AfterMs(kExitMs));
  ASSERT_TRUE(status.has_value()) << "rank " << rank << " still runs\n"
                                  << group->Describe();
  EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 0)
      << "rank " << rank << ": status " << *status << "\n"
      << group->Describe();
  EXPECT_TRUE(
      group->WaitForLine(rank, "later REMOTE_DEAD", Deadline::AfterMs(0)))
      << "a later call must return the same error\n"
      << group->Describe();
}

using DeathCase = std::tuple<PathUnderTest, int>;

class DeathTest : public ::testing::TestWithParam<DeathCase> {
 protected:
  const PathUnderTest& path() const { return std::get<0>(GetParam()); }
  int victim() const { return std::get<1>(GetParam()); }
};

TEST_P(DeathTest, KilledRankIsNamedByEveryOtherAndNothingIsLeft) {
  const SharedMemoryFolder folder;
  auto environment = path().environment;
  environment["UCX_POSIX_DIR"] = folder.path();
  RankGroup group(Program(), kRanks);
  ASSERT_TRUE(group.Start({"loop"}, environment));
  ASSERT_TRUE(group.WaitForLines("ready", Deadline::AfterMs(kStartMs)))
      << group.Describe();
  group.NoteSharedMemory();

  group.Signal(victim(), SIGKILL);
  const Deadline notice = Deadline::AfterMs(kNoticeMs);
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank != victim()) ExpectNamedError(&group, rank, victim(), notice);
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank != victim()) ExpectCleanExit(&group, rank);
  }
  const auto status = group.WaitForExit(victim(), Deadline::AfterMs(kExitMs));
  ASSERT_TRUE(status.has_value());
  EXPECT_TRUE(WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL);
  EXPECT_THAT(group.LeftOverSharedMemory(), IsEmpty());
  EXPECT_THAT(folder.Entries(), IsEmpty());
}

TEST_P(DeathTest, StoppedRankIsAnErrorWithinThePeerTimeout) {
  const SharedMemoryFolder folder;
  auto environment = path().environment;
  environment["UCX_POSIX_DIR"] = folder.path();
  environment["RONDO_PEER_TIMEOUT_MS"] = "1000";
  environment["RONDO_HEARTBEAT_MS"] = "100";
  RankGroup group(Program(), kRanks);
  ASSERT_TRUE(group.Start({"loop"}, environment));
  ASSERT_TRUE(group.WaitForLines("ready", Deadline::AfterMs(kStartMs)))
      << group.Describe();

  group.Signal(victim(), SIGSTOP);
  const Deadline notice = Deadline::AfterMs(1'000 + kNoticeMs);
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank != victim()) ExpectNamedError(&group, rank, victim(), notice);
  }
  // Once it runs again it must find out as well, and not hang.
  group.Signal(victim(), SIGCONT);
  EXPECT_TRUE(group.WaitForLine(victim(), "error ", Deadline::AfterMs(kExitMs)))
      << group.Describe();
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_TRUE(group.WaitForExit(rank, Deadline::AfterMs(kExitMs)));
  }
  EXPECT_THAT(folder.Entries(), IsEmpty());
}

std::string CaseName(const ::testing::TestParamInfo<DeathCase>& info) {
  return std::get<0>(info.param).name + "Rank" +
         std::to_string(std::get<1>(info.param));
}

// Rank 0 is a case of its own: its process holds the coordinator.
INSTANTIATE_TEST_SUITE_P(AllPaths, DeathTest,
                         ::testing::Combine(::testing::ValuesIn(AllPaths()),
                                            ::testing::Values(0, 2)),
                         CaseName);

}  // namespace
}  // namespace rondo::testing
