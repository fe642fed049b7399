#include "perf/step/step_report.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace rondo::perf {
namespace {

StepRun SomeRun() {
  StepRun run;
  run.ranks = {{0, 0, 1, "a"}, {1, 0, 2, "a"}, {2, 0, 3, "a"}, {3, 0, 4, "a"}};
  run.parameters = 1 << 20;
  run.gradient_type = "bfloat16";
  run.parameter_type = "float";
  run.gradient_bytes = 2;
  run.parameter_bytes = 4;
  run.state_bytes = 12 << 18;
  run.times.mean_us = 2048;
  run.times.p95_us = 3000;
  run.wrong = 0;
  return run;
}

TEST(StepReportTest, CountsWhatMustTravel) {
  // Three quarters of 2 + 4 bytes for each parameter.
  EXPECT_EQ(AlgorithmBytesPerRank(SomeRun()), (1 << 20) * 6 / 4 * 3);
  StepRun alone = SomeRun();
  alone.ranks.resize(1);
  EXPECT_EQ(AlgorithmBytesPerRank(alone), 0);
}

TEST(StepReportTest, RateIsParametersPerTime) {
  EXPECT_DOUBLE_EQ(MillionParametersPerSecond(SomeRun()), 512);
  EXPECT_EQ(MillionParametersPerSecond(StepRun{}), 0);
}

TEST(StepReportTest, TextHasTheFigures) {
  const std::string text = StepText(SomeRun());
  for (const char* figure :
       {"1048576", "bfloat16", "2.048", "3.000", "512.0", "4718592"}) {
    EXPECT_NE(text.find(figure), std::string::npos) << figure << "\n" << text;
  }
  EXPECT_NE(text.find("values : 0 OK"), std::string::npos);
  StepRun wrong = SomeRun();
  wrong.wrong = 2;
  EXPECT_NE(StepText(wrong).find("values : 2 FAILED"), std::string::npos);
  wrong.wrong.reset();
  EXPECT_NE(StepText(wrong).find("values : not checked"), std::string::npos);
}

TEST(StepReportTest, JsonHasTheFigures) {
  const auto json = nlohmann::json::parse(StepJson(SomeRun()));
  EXPECT_EQ(json["config"]["parameters"], 1 << 20);
  EXPECT_EQ(json["config"]["ranks"], 4);
  EXPECT_DOUBLE_EQ(json["result"]["time_ms"], 2.048);
  EXPECT_EQ(json["result"]["nwrong"], 0);
  EXPECT_DOUBLE_EQ(json["result"]["per_iter"]["p95_us"], 3000);
  EXPECT_EQ(json["devices"].size(), 4u);
}

}  // namespace
}  // namespace rondo::perf
