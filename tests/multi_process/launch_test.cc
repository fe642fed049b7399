// Whole jobs from start to end, over every path and by Open MPI's mpirun.

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"
#include "tests/multi_process/paths.h"
#include "tests/multi_process/rank_group.h"

namespace rondo::testing {
namespace {

std::string Program() { return ProgramPath("tests/multi_process/ranks"); }

class WholeJobTest : public ::testing::TestWithParam<PathUnderTest> {};

TEST_P(WholeJobTest, EveryCollectiveIsRightOnOneToFourRanks) {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    RankGroup group(Program(), ranks);
    ASSERT_TRUE(group.Start({"collectives"}, GetParam().environment));
    const Deadline end = Deadline::AfterMs(60'000);
    for (int rank = 0; rank < ranks; ++rank) {
      const auto status = group.WaitForExit(rank, end);
      ASSERT_TRUE(status.has_value()) << group.Describe();
      EXPECT_EQ(*status, 0) << group.Describe();
      EXPECT_TRUE(group.WaitForLine(rank, "done", end)) << group.Describe();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    AllPaths, WholeJobTest, ::testing::ValuesIn(AllPaths()),
    [](const ::testing::TestParamInfo<PathUnderTest>& info) {
      return info.param.name;
    });

// The output and exit status of a shell command.
struct CommandResult {
  std::string text;
  int status = -1;
};

CommandResult RunCommand(const std::string& command) {
  CommandResult result;
  FILE* output = popen((command + " 2>&1").c_str(), "r");
  if (output == nullptr) return result;
  char buffer[4096];
  while (fgets(buffer, sizeof(buffer), output) != nullptr) {
    result.text += buffer;
  }
  result.status = pclose(output);
  return result;
}

int CountLines(const std::string& text, const std::string& line) {
  int count = 0;
  for (size_t at = 0; (at = text.find(line + "\n", at)) != std::string::npos;
       at += line.size()) {
    ++count;
  }
  return count;
}

TEST(MpirunTest, RanksFindEachOtherThroughOpenMpiAlone) {
  if (RunCommand("command -v mpirun").status != 0) {
    GTEST_SKIP() << "no mpirun on this machine";
  }
  const CommandResult result = RunCommand(
      "timeout 60 mpirun --allow-run-as-root --oversubscribe -np 4 " +
      Program() + " collectives");
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_EQ(CountLines(result.text, "done"), 4) << result.text;
}

}  // namespace
}  // namespace rondo::testing
