#include "perf/step/step_report.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace rondo::perf {
namespace {

StepRun SomeRun() {
  StepRun run;
  run.ranks = {{0, 0, 1, "a"}, {1, 0, 2, "a"}};
  run.parameters = 1 << 20;
  run.gradient_type = "bfloat16";
  run.parameter_type = "float";
  run.buffers = "symmetric";
  run.rounds = 3;
  run.state_bytes = 12 << 18;
  run.limit_bytes = 36000000;
  run.copy_bytes = 8000000;
  run.ways = {{"fused", "one pass", 2, {1, 2, 3}},
              {"fused_clip", "two passes", 3, {3, 3, 3}},
              {"unfused", "slow", 4, {}},
              {"unfused", "fast", 2.5, {}},
              {"unfused_clip", "a", 6, {}},
              {"unfused_clip_best", "b", 4.5, {}},
              {"limit", "loop", 1.5, {}},
              {"copy", "cached", 0.4, {}},
              {"copy", "streaming", 0.3, {}}};
  run.wrong = 0;
  run.checked = 1 << 20;
  return run;
}

TEST(StepReportTest, TheFastestWayToAFigureCounts) {
  const StepRun run = SomeRun();
  EXPECT_EQ(FastestWay(run, kUnfused)->way, "fast");
  EXPECT_EQ(FastestWay(run, kMpi), nullptr);
  EXPECT_DOUBLE_EQ(Speedup(run, kUnfused, kFused), 1.25);
  EXPECT_EQ(Speedup(run, kMpi, kFused), 0);
}

TEST(StepReportTest, BandwidthCountsReadsAndWrites) {
  EXPECT_DOUBLE_EQ(LimitGbs(SomeRun()), 24);
  EXPECT_NEAR(CopyGbs(SomeRun()), 26.6667, 1e-3);
  EXPECT_EQ(LimitGbs(StepRun{}), 0);
}

TEST(StepReportTest, TextHasTheFigures) {
  const std::string text = StepText(SomeRun());
  for (const char* figure :
       {"1048576", "bfloat16", "one pass", "2.500", "26.67",
        "1.25x unfused, 0.750 of the limit", "2.00x a separate pass",
        "1.50x the norm inside", "0.900 of copying", "values : 0 OK"}) {
    EXPECT_NE(text.find(figure), std::string::npos) << figure << "\n" << text;
  }
  StepRun wrong = SomeRun();
  wrong.wrong = 2;
  EXPECT_NE(StepText(wrong).find("values : 2 FAILED"), std::string::npos);
  wrong.wrong.reset();
  EXPECT_NE(StepText(wrong).find("values : not checked"), std::string::npos);
}

TEST(StepReportTest, JsonHasTheFigures) {
  const auto json = nlohmann::json::parse(StepJson(SomeRun()));
  EXPECT_EQ(json["params"], 1 << 20);
  EXPECT_EQ(json["ranks"], 2);
  const std::pair<const char*, double> figures[] = {
      {"fused_ms", 2},           {"fused_clip_ms", 3},
      {"unfused_ms", 2.5},       {"unfused_clip_ms", 6},
      {"limit_ms", 1.5},         {"unfused_clip_best_ms", 4.5},
      {"limit_gbs", 24},         {"fused_speedup", 1.25},
      {"clip_speedup", 2},       {"fused_limit_fraction", 0.75},
      {"clip_best_speedup", 1.5}};
  for (const auto& [key, value] : figures) {
    EXPECT_DOUBLE_EQ(json[key], value) << key;
  }
  EXPECT_EQ(json["wrong"], 0);
  EXPECT_EQ(json["ways"].size(), 9u);
  EXPECT_EQ(json["ways"][0]["round_ms"].size(), 3u);
  EXPECT_EQ(json["devices"].size(), 2u);
  EXPECT_FALSE(json.contains("mpi_ms"));
}

TEST(StepReportTest, AComparisonHasTheMpiFigures) {
  StepRun run = SomeRun();
  run.mpi_name = "MPICH";
  run.mpi_version = "MPICH 4";
  run.ways.push_back({"mpi", "MPI_Reduce_scatter", 9, {}});
  run.ways.push_back({"mpi", "MPI_Reduce_scatter_block", 8, {}});
  const auto json = nlohmann::json::parse(StepJson(run));
  EXPECT_DOUBLE_EQ(json["mpi_ms"], 8);
  EXPECT_DOUBLE_EQ(json["ratio"], 4);
  EXPECT_NE(StepText(run).find("fused: 4.00x MPICH"), std::string::npos);
}

}  // namespace
}  // namespace rondo::perf
