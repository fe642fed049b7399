#include "perf/launch/ranks_option.h"

#include <map>
#include <utility>

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

using Words = std::vector<std::string>;

EnvironmentReader With(const std::string& name, const std::string& value) {
  std::map<std::string, std::string> variables;
  variables[name] = value;
  return EnvironmentReader(std::move(variables));
}

TEST(RanksOptionTest, IsTakenOutInBothSpellings) {
  EXPECT_EQ(
      WithoutRanksOption({"perf", "all_gather", "--ranks", "4", "-b", "8"}),
      (Words{"perf", "all_gather", "-b", "8"}));
  EXPECT_EQ(WithoutRanksOption({"perf", "--ranks=4", "-J", "file"}),
            (Words{"perf", "-J", "file"}));
  EXPECT_EQ(WithoutRanksOption({"perf", "-b", "8"}),
            (Words{"perf", "-b", "8"}));
}

TEST(RanksOptionTest, WithoutItTheBodyIsThisRank) {
  EXPECT_EQ(RunAsRanks({}, 0, [] { return 17; }), 17);
}

TEST(RanksOptionTest, IsRefusedUnderALauncher) {
  const std::map<std::string, std::string> torchrun = {
      {"RANK", "3"},        {"WORLD_SIZE", "4"},
      {"LOCAL_RANK", "3"},  {"LOCAL_WORLD_SIZE", "4"},
      {"MASTER_ADDR", "h"}, {"MASTER_PORT", "1234"}};
  const std::map<std::string, std::string> open_mpi = {
      {"OMPI_COMM_WORLD_RANK", "3"},
      {"OMPI_COMM_WORLD_SIZE", "4"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
  for (const auto& variables : {torchrun, open_mpi}) {
    Invocation invocation;
    invocation.environment = EnvironmentReader(variables);
    testing::internal::CaptureStderr();
    const int status = RunAsRanks(invocation, 2, [] { return 0; });
    const std::string error = testing::internal::GetCapturedStderr();
    EXPECT_EQ(status, kExitUsage) << error;
    EXPECT_NE(error.find("--ranks 2"), std::string::npos) << error;
    EXPECT_NE(error.find("rank 3 of 4"), std::string::npos) << error;
  }
}

TEST(RanksOptionTest, BadSettingsAreRefusedBeforeAnythingStarts) {
  Invocation invocation;
  invocation.environment = With("RONDO_TIMEOUT_MS", "soon");
  testing::internal::CaptureStderr();
  const int status = RunAsRanks(invocation, 2, [] { return 0; });
  const std::string error = testing::internal::GetCapturedStderr();
  EXPECT_EQ(status, kExitUsage);
  EXPECT_NE(error.find("RONDO_TIMEOUT_MS"), std::string::npos) << error;
  EXPECT_NE(error.find("soon"), std::string::npos) << error;
}

}  // namespace
}  // namespace rondo::perf
