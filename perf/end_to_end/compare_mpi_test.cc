// vs_openmpi and vs_mpich, each under the launcher of its own library.
#include <algorithm>
#include <set>
#include <tuple>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "perf/end_to_end/command_runner.h"

namespace rondo::perf {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

Finished RunProgram(const std::string& name, Words arguments) {
  arguments.insert(arguments.begin(), BuiltPath(name));
  RunningCommand command(std::move(arguments), {});
  return command.Finish();
}

class CompareMpiTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const Finished run = RunProgram(GetParam(), {"--mpirun", "/no/launcher"});
    EXPECT_EQ(run.exit_status, 2) << run.standard_error;
    if (run.standard_error.find("was built without") != std::string::npos) {
      GTEST_SKIP() << run.standard_error;
    }
    EXPECT_NE(run.standard_error.find("/no/launcher"), std::string::npos)
        << run.standard_error;
  }
};

TEST_P(CompareMpiTest, MeasuresEveryCellAndFindsNothingWrong) {
  const std::string json_path = NewPath("comparison.json");
  const std::string svg_path = NewPath("comparison.svg");
  const Finished run =
      RunProgram(GetParam(), {"--ranks", "2", "-b", "8", "-e", "32",
                              "--alternations", "1", "--rerun-alternations",
                              "2", "-J", json_path, "--svg", svg_path});
  ASSERT_EQ(run.exit_status, 0) << run.standard_output << run.standard_error;
  const Json report = Json::parse(FileText(json_path));
  EXPECT_EQ(report["ranks"], 2);
  EXPECT_EQ(report["wrong"], 0);
  EXPECT_GT(report["copy_gbs"], 0);
  EXPECT_EQ(report["reduce_gbs"][0]["sources"], 2);
  EXPECT_GT(report["reduce_gbs"][0]["gbs"], 0);
  EXPECT_NE(report["mpi_version"], "");
  EXPECT_NE(report["ucx_version"], "");
  EXPECT_NE(report["transport"], "");
  std::set<std::tuple<std::string, size_t, std::string, std::string>> cells;
  for (const Json& row : report["results"]) {
    cells.emplace(row["collective"].get<std::string>(),
                  row["bytes"].get<size_t>(), row["place"].get<std::string>(),
                  row["buffers"].get<std::string>());
    EXPECT_GT(row["rondo_us"], 0);
    EXPECT_GT(row["mpi_us"], 0);
    EXPECT_DOUBLE_EQ(
        row["ratio"].get<double>(),
        row["mpi_us"].get<double>() / row["rondo_us"].get<double>());
    EXPECT_TRUE(row["limit_fraction"].is_null());  // far below the caches
    EXPECT_EQ(row["alternations"], row["rerun"].get<bool>() ? 2 : 1);
  }
  // 8, 16, 24 (odd), 32 bytes of each collective in both places, on both kinds
  // of memory.
  EXPECT_EQ(cells.size(), 4u * 2 * 2 * 2);
  EXPECT_EQ(report["results"].size(), cells.size());
  EXPECT_NE(FileText(svg_path).find("</svg>"), std::string::npos);
}

TEST_P(CompareMpiTest, MoreRanksThanCoresSumTheirOwnBlocks) {
  const std::string path = NewPath("comparison.json");
  const Finished run =
      RunProgram(GetParam(), {"--ranks", "3", "-b", "3000", "-e", "3000", "-c",
                              "reduce_scatter", "--alternations", "1",
                              "--rerun-alternations", "0", "-J", path});
  ASSERT_EQ(run.exit_status, 0) << run.standard_output << run.standard_error;
  const Json report = Json::parse(FileText(path));
  EXPECT_EQ(report["wrong"], 0);
  EXPECT_EQ(report["reduce_gbs"].size(), 2u);  // of 2 sources and of 3
  for (const Json& row : report["results"]) EXPECT_EQ(row["bytes"], 3000);
}

TEST_P(CompareMpiTest, AnotherLaunchersWorldIsRefused) {
  // One process without a launcher: a world of its own.
  const Finished run =
      RunProgram(GetParam(), {"--as-rank", "--ranks", "2", "-e", "8"});
  EXPECT_EQ(run.exit_status, 2) << run.standard_output << run.standard_error;
  EXPECT_NE(run.standard_error.find("a world of 1"), std::string::npos)
      << run.standard_error;
}

TEST_P(CompareMpiTest, StepsAroundMpiAreRightAndTimed) {
  for (const char* type : {"float", "bfloat16"}) {
    const std::string path = NewPath("step.json");
    const Finished run =
        RunProgram(GetParam(), {"step", "--params", "10007", "--grad-type",
                                type, "--param-type", "bfloat16", "-n", "2",
                                "-w", "0", "--ranks", "2", "-J", path});
    ASSERT_EQ(run.exit_status, 0) << run.standard_output << run.standard_error;
    const Json report = Json::parse(FileText(path));
    EXPECT_EQ(report["wrong"], 0);
    EXPECT_EQ(report["checked"], 10007);
    EXPECT_NE(report["mpi_version"], "");
    EXPECT_GT(report["unfused_ms"], 0);
    EXPECT_DOUBLE_EQ(
        report["ratio"].get<double>(),
        report["mpi_ms"].get<double>() / report["fused_ms"].get<double>());
    const auto names_mpi = [](const Json& way) {
      return way["figure"] == "mpi";
    };
    EXPECT_EQ(
        std::count_if(report["ways"].begin(), report["ways"].end(), names_mpi),
        2);
  }
}

INSTANTIATE_TEST_SUITE_P(Libraries, CompareMpiTest,
                         testing::Values("vs_openmpi", "vs_mpich"));

TEST(CompareMpiHelpTest, ExplainsItselfAndRefusesWithTwo) {
  for (const char* name : {"vs_openmpi", "vs_mpich"}) {
    const Finished help = RunProgram(name, {"--help"});
    EXPECT_EQ(help.exit_status, 0) << help.standard_error;
    EXPECT_NE(help.standard_output.find("Examples:"), std::string::npos);
    const Finished step = RunProgram(name, {"step", "--help"});
    EXPECT_EQ(step.exit_status, 0) << step.standard_error;
    EXPECT_NE(step.standard_output.find("--grad-type"), std::string::npos);
    const Finished senseless =
        RunProgram(name, {"step", "--svg", "plot.svg", "--params", "8"});
    EXPECT_EQ(senseless.exit_status, 2);
    EXPECT_NE(senseless.standard_error.find("--svg has no meaning with step"),
              std::string::npos)
        << senseless.standard_error;
    const Finished refused = RunProgram(name, {"-b", "x"});
    EXPECT_EQ(refused.exit_status, 2);
    EXPECT_NE(refused.standard_error.find("\"x\""), std::string::npos)
        << refused.standard_error;
  }
}

}  // namespace
}  // namespace rondo::perf
