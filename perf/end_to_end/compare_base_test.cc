// `rondo perf COLLECTIVE --compare` as a gate.
#include <fstream>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "perf/end_to_end/command_runner.h"

namespace rondo::perf {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Finished RunGather(const Words& more, const std::string& ranks = "2") {
  Words words = {"perf", "all_gather", "--ranks", ranks, "-b",
                 "1Ki",  "-e",         "4Ki",     "-n",  "5"};
  words.insert(words.end(), more.begin(), more.end());
  return RunRondo(words);
}

class CompareBaseTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = NewPath("base.json");
    const Finished run = RunGather({"-J", path_});
    ASSERT_EQ(run.exit_status, 0) << run.standard_error;
  }

  // Writes a base whose times are those measured, times `factor`.
  std::string BaseWithTimes(double factor) {
    Json base = Json::parse(FileText(path_));
    for (Json& row : base["results"]) {
      for (const char* place : {"out_of_place", "in_place"}) {
        row[place]["time"] = row[place]["time"].get<double>() * factor;
      }
    }
    const std::string path = NewPath("changed.json");
    std::ofstream(path) << base.dump();
    return path;
  }

  std::string path_;
};

TEST_F(CompareBaseTest, AFasterRunPasses) {
  const Finished run = RunGather({"--compare", BaseWithTimes(1e6)});
  EXPECT_EQ(run.exit_status, 0) << run.standard_error;
  EXPECT_TRUE(Contains(run.standard_output, "tolerance 10 %"));
  EXPECT_TRUE(Contains(run.standard_output, "Slower than the base : 0 of 6 OK"))
      << run.standard_output;
}

TEST_F(CompareBaseTest, ASlowerRunExitsWithTwoAndNamesTheSizes) {
  const Finished run =
      RunGather({"--compare", BaseWithTimes(1e-6), "--tolerance", "50"});
  EXPECT_EQ(run.exit_status, 2) << run.standard_error;
  EXPECT_TRUE(Contains(run.standard_output, "tolerance 50 %"));
  EXPECT_TRUE(Contains(run.standard_output, "SLOWER")) << run.standard_output;
  EXPECT_TRUE(Contains(run.standard_output, "6 of 6 FAILED"))
      << run.standard_output;
}

TEST_F(CompareBaseTest, TheFileMayBeReplacedByTheSameRun) {
  const std::string base = BaseWithTimes(1e6);
  const Finished run = RunGather({"--compare", base, "-J", base});
  EXPECT_EQ(run.exit_status, 0) << run.standard_error;
  EXPECT_TRUE(Contains(run.standard_output, "-100.0 %")) << run.standard_output;
}

TEST_F(CompareBaseTest, AnotherCommandsFileIsRefusedBeforeAnythingRuns) {
  const Finished other =
      RunRondo({"perf", "reduce_scatter", "--ranks", "2", "--compare", path_});
  EXPECT_EQ(other.exit_status, 2);
  EXPECT_TRUE(Contains(other.standard_error, "all_gather, not of reduce_scat"))
      << other.standard_error;
  EXPECT_EQ(other.standard_output, "");
  const Finished more_ranks = RunGather({"--compare", path_}, "3");
  EXPECT_EQ(more_ranks.exit_status, 2);
  EXPECT_TRUE(Contains(more_ranks.standard_error, "with 2 ranks, not 3"))
      << more_ranks.standard_error;
  EXPECT_EQ(more_ranks.standard_output, "");
}

TEST_F(CompareBaseTest, ARankOfALauncherRefusesItAsWell) {
  // A world of one, without --ranks.
  const Finished run = RunRondo({"perf", "all_gather", "--compare", path_});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_TRUE(Contains(run.standard_error, "with 2 ranks, not 1"))
      << run.standard_error;
  EXPECT_EQ(run.standard_output, "");
}

}  // namespace
}  // namespace rondo::perf
