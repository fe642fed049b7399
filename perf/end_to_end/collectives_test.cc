// `rondo perf COLLECTIVE` between real processes.
#include <algorithm>
#include <set>
#include <sstream>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "perf/end_to_end/command_runner.h"

namespace rondo::perf {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

// Runs `rondo perf ARGUMENTS -J FILE` and returns the file's content.
Json RunToJson(Words arguments, int expected_status = 0,
               Variables variables = {}) {
  const std::string path = NewPath("result.json");
  arguments.insert(arguments.begin(), "perf");
  arguments.insert(arguments.end(), {"-J", path});
  const Finished run = RunRondo(arguments, std::move(variables));
  EXPECT_EQ(run.exit_status, expected_status)
      << run.standard_output << run.standard_error;
  return Json::parse(FileText(path), nullptr, /*allow_exceptions=*/false);
}

int64_t WrongIn(const Json& report) {
  int64_t wrong = 0;
  for (const Json& row : report["results"]) {
    for (const char* placement : {"out_of_place", "in_place"}) {
      wrong += row[placement]["nwrong"].get<int64_t>();
    }
  }
  return wrong;
}

class CollectiveTest
    : public testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  std::string collective() const { return std::get<0>(GetParam()); }
  int ranks() const { return std::get<1>(GetParam()); }
};

TEST_P(CollectiveTest, MovesEveryElementToItsPlace) {
  const Json report =
      RunToJson({collective(), "--ranks", std::to_string(ranks()), "-b", "8",
                 "-e", "256Ki", "-f", "32", "-n", "2", "-w", "1"});
  EXPECT_EQ(WrongIn(report), 0);
  ASSERT_FALSE(report["results"].empty());
  const size_t blocks = collective() == "broadcast" ? 1 : ranks();
  for (const Json& row : report["results"]) {
    EXPECT_EQ(row["size"], row["count"].get<size_t>() * blocks * 4);
    EXPECT_EQ(row["type"], "float");
    const Json half = row["out_of_place"];
    const double factor =
        collective() == "broadcast" ? 1 : (ranks() - 1.0) / ranks();
    EXPECT_NEAR(half["bus_bw"], half["alg_bw"].get<double>() * factor, 1e-9);
    EXPECT_NEAR(half["alg_bw"],
                row["size"].get<double>() / half["time"].get<double>() / 1e3,
                1e-9);
    EXPECT_LE(half["per_iter"]["min_us"], half["per_iter"]["p50_us"]);
    EXPECT_LE(half["per_iter"]["p50_us"], half["per_iter"]["p99_us"]);
  }
  std::set<int> pids;
  for (const Json& device : report["devices"])
    pids.insert(device["pid"].get<int>());
  EXPECT_EQ(pids.size(), static_cast<size_t>(ranks()));
}

INSTANTIATE_TEST_SUITE_P(Ranks, CollectiveTest,
                         testing::Combine(testing::Values("all_gather",
                                                          "reduce_scatter",
                                                          "broadcast"),
                                          testing::Values(1, 2, 3, 4)));

TEST(CollectivesTest, EveryTypeAndReductionIsExact) {
  const Json report =
      RunToJson({"reduce_scatter", "--ranks", "3", "-b", "3001", "-e", "3001",
                 "-d", "all", "-o", "all", "-n", "1", "-w", "0"});
  EXPECT_EQ(report["results"].size(), 50u);
  EXPECT_EQ(WrongIn(report), 0);
}

TEST(CollectivesTest, AnAllGatherOfEveryTypeNeedsNoReduction) {
  const Json report =
      RunToJson({"all_gather", "--ranks", "2", "-b", "777", "-e", "777", "-d",
                 "all", "-o", "all", "-n", "1", "-w", "0"});
  EXPECT_EQ(report["results"].size(), 10u);
  EXPECT_EQ(report["results"][0]["redop"], "none");
  EXPECT_EQ(WrongIn(report), 0);
}

TEST(CollectivesTest, BroadcastStartsFromAnyRoot) {
  const Json report = RunToJson({"broadcast", "--ranks", "3", "-r", "2", "-b",
                                 "1Ki", "-e", "1Ki", "-n", "1"});
  EXPECT_EQ(report["results"][0]["root"], 2);
  EXPECT_EQ(WrongIn(report), 0);
}

TEST(CollectivesTest, CorruptedElementsAreCountedAndFail) {
  for (const char* collective : {"all_gather", "reduce_scatter"}) {
    const Json report =
        RunToJson({collective, "--ranks", "3", "-b", "1Ki", "-e", "1Mi", "-f",
                   "4", "-n", "2", "-d", "int32"},
                  /*expected_status=*/1, {{"RONDO_FAULT", "corrupt:1"}});
    EXPECT_GT(WrongIn(report), 0) << collective;
    EXPECT_EQ(report["out_of_bounds"]["okay"], false);
    // The report itself came through: host names and times are plausible.
    EXPECT_EQ(report["devices"][0]["hostname"],
              report["devices"][2]["hostname"]);
  }
}

TEST(CollectivesTest, UncheckedRunsClaimNothing) {
  const std::string path = NewPath("result.json");
  const Finished run = RunRondo({"perf", "all_gather", "--ranks", "2", "-b",
                                 "4Ki", "-e", "4Ki", "-c", "0", "-J", path});
  EXPECT_EQ(run.exit_status, 0) << run.standard_error;
  EXPECT_NE(run.standard_output.find("N/A"), std::string::npos);
  EXPECT_NE(run.standard_output.find("Out of bounds values : not checked"),
            std::string::npos);
  const Json report = Json::parse(FileText(path));
  EXPECT_TRUE(report["results"][0]["in_place"]["nwrong"].is_null());
}

TEST(CollectivesTest, SymmetricMemoryGivesTheSameResults) {
  for (const char* collective : {"all_gather", "reduce_scatter", "broadcast"}) {
    const Json report =
        RunToJson({collective, "--ranks", "3", "-b", "8", "-e", "1Mi", "-f",
                   "32", "-n", "2", "--buffers", "symmetric"});
    EXPECT_EQ(WrongIn(report), 0) << collective;
    EXPECT_EQ(report["config"]["buffers"], "symmetric");
  }
}

TEST(CollectivesTest, OneRankPrintsOneTable) {
  const Finished run =
      RunRondo({"perf", "all_gather", "--ranks", "3", "-b", "1Ki", "-e", "4Ki",
                "-i", "1Ki", "-n", "1", "--percentiles"});
  EXPECT_EQ(run.exit_status, 0) << run.standard_error;
  EXPECT_EQ(run.standard_error, "");
  int rows = 0;
  int rank_lines = 0;
  std::stringstream text(run.standard_output);
  for (std::string line; std::getline(text, line);) {
    ASSERT_FALSE(line.empty());
    rows += line[0] != '#';
    rank_lines += line.rfind("#  Rank", 0) == 0;
  }
  EXPECT_EQ(rows, 4);
  EXPECT_EQ(rank_lines, 3);
  EXPECT_NE(run.standard_output.find("# Out of bounds values : 0 OK"),
            std::string::npos);
  EXPECT_NE(run.standard_output.find("p99"), std::string::npos);
}

TEST(CollectivesTest, CsvHasALineForEachPlacement) {
  const std::string path = NewPath("result.csv");
  const Finished run = RunRondo({"perf", "reduce_scatter", "--ranks", "2", "-b",
                                 "1Ki", "-e", "2Ki", "-n", "1", "--csv", path});
  EXPECT_EQ(run.exit_status, 0) << run.standard_error;
  const std::string text = FileText(path);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;
}

}  // namespace
}  // namespace rondo::perf
