// Ranks that call different collectives are told who differs, and in what.

#include <sys/wait.h>

#include <ostream>
#include <string>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/multi_process/paths.h"
#include "tests/multi_process/rank_group.h"

namespace rondo::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kRanks = 3;
constexpr int kDiffering = 1;
constexpr int64_t kEndMs = 30'000;

struct FieldUnderTest {
  std::string argument;  // of the `ranks` program
  std::string named;     // in the error
};

void PrintTo(const FieldUnderTest& field, std::ostream* out) {
  *out << field.argument;
}

using MismatchCase = std::tuple<PathUnderTest, FieldUnderTest>;

class MismatchTest : public ::testing::TestWithParam<MismatchCase> {};

TEST_P(MismatchTest, EveryRankNamesWhoDiffersAndNoDataIsApplied) {
  const auto& [path, field] = GetParam();
  RankGroup group(ProgramPath("tests/multi_process/ranks"), kRanks);
  ASSERT_TRUE(
      group.Start({"differ", field.argument, std::to_string(kDiffering)},
                  path.environment));
  const Deadline end = Deadline::AfterMs(kEndMs);
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto line = group.WaitForLine(rank, "error ", end);
    ASSERT_TRUE(line.has_value()) << group.Describe();
    EXPECT_THAT(*line, HasSubstr("error MISMATCH"));
    EXPECT_THAT(*line, HasSubstr("rank " + std::to_string(kDiffering)));
    EXPECT_THAT(*line, HasSubstr(field.named));
    EXPECT_TRUE(group.WaitForLine(rank, "no foreign data", end))
        << group.Describe();
    EXPECT_TRUE(group.WaitForLine(rank, "later MISMATCH", end))
        << group.Describe();
    const auto status = group.WaitForExit(rank, end);
    ASSERT_TRUE(status.has_value()) << group.Describe();
    EXPECT_EQ(*status, 0) << group.Describe();
  }
}

// The control: with a difference in the data alone the same calls succeed, and
// what the test above calls foreign does arrive.
TEST(MismatchControlTest, EqualCallsAreNoMismatch) {
  RankGroup group(ProgramPath("tests/multi_process/ranks"), kRanks);
  ASSERT_TRUE(
      group.Start({"differ", "nothing", std::to_string(kDiffering)}, {}));
  const Deadline end = Deadline::AfterMs(kEndMs);
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_TRUE(group.WaitForLine(rank, "foreign data", end))
        << group.Describe();
    EXPECT_TRUE(group.WaitForLine(rank, "no error came", end))
        << group.Describe();
    EXPECT_TRUE(group.WaitForLine(rank, "later OK", end)) << group.Describe();
  }
}

INSTANTIATE_TEST_SUITE_P(
    AllPaths, MismatchTest,
    ::testing::Combine(
        ::testing::ValuesIn(AllPaths()),
        ::testing::Values(FieldUnderTest{"count", "count"},
                          FieldUnderTest{"type", "type"},
                          FieldUnderTest{"operation", "operation"},
                          FieldUnderTest{"reduction", "reduction"},
                          FieldUnderTest{"root", "root"},
                          FieldUnderTest{"order", "operation"})),
    [](const ::testing::TestParamInfo<MismatchCase>& info) {
      return std::get<0>(info.param).name + "_" +
             std::get<1>(info.param).argument;
    });

}  // namespace
}  // namespace rondo::testing
