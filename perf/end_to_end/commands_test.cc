// The other commands of `rondo`, and how all of them refuse and explain.
#include <algorithm>

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

TEST(HelpTest, EveryCommandExplainsItself) {
  const std::vector<Words> commands = {{},
                                       {"perf", "all_gather"},
                                       {"perf", "reduce_scatter"},
                                       {"perf", "broadcast"},
                                       {"perf", "step"},
                                       {"perf", "net"},
                                       {"train"},
                                       {"plan"},
                                       {"info"}};
  for (Words words : commands) {
    const std::string name = words.empty() ? "rondo" : words.back();
    words.push_back("--help");
    const Finished run = RunRondo(words);
    EXPECT_EQ(run.exit_status, 0) << name;
    EXPECT_TRUE(Contains(run.standard_output, "Examples:")) << name;
    EXPECT_TRUE(Contains(run.standard_output, "Exit status: 0")) << name;
  }
  EXPECT_TRUE(Contains(RunRondo({"--version"}).standard_output, "rondo 0."));
}

struct Refusal {
  Words arguments;
  std::string said;
};

class RefusalTest : public testing::TestWithParam<Refusal> {};

TEST_P(RefusalTest, ExitsWithTwoAndSaysWhy) {
  const Finished run = RunRondo(GetParam().arguments);
  EXPECT_EQ(run.exit_status, 2) << run.standard_error;
  EXPECT_TRUE(Contains(run.standard_error, GetParam().said))
      << run.standard_error;
  EXPECT_EQ(run.standard_output, "");
}

INSTANTIATE_TEST_SUITE_P(
    Commands, RefusalTest,
    testing::Values(
        Refusal{{}, "perf, train, plan, info"},
        Refusal{{"pref"}, "\"pref\" is no command"},
        Refusal{{"perf", "all_reduce"}, "\"all_reduce\" is no command"},
        Refusal{{"perf"}, "all_gather, reduce_scatter"},
        Refusal{{"perf", "all_gather", "--nranks", "2"}, "--nranks"},
        Refusal{{"perf", "all_gather", "-d", "float8"}, "bfloat16"},
        Refusal{{"perf", "broadcast", "-r", "1"}, "world of 1"},
        Refusal{{"perf", "step", "--grad-type", "int8"}, "bfloat16"},
        Refusal{{"perf", "step", "--params", "0"}, "\"0\""},
        Refusal{{"perf", "step", "--params", "2Ti"}, "1099511627776"},
        Refusal{{"perf", "step", "--model", "gpt5"}, "gpt2"},
        Refusal{{"perf", "step", "--buffers", "pinned"}, "symmetric"},
        Refusal{{"train", "--steps", "0"}, "\"0\""},
        Refusal{{"plan", "all_gather"}, "--ranks"},
        Refusal{{"plan", "all_to_all", "--ranks", "2"}, "reduce_scatter"},
        Refusal{{"plan", "barrier", "--ranks", "2", "--algorithm", "ring"},
                "dissemination"},
        Refusal{{"plan", "barrier", "--ranks", "2", "--rank", "2"}, "0 to 1"},
        Refusal{{"plan", "barrier", "--ranks", "9000", "--all"}, "--rank"},
        Refusal{{"plan", "all_gather", "--ranks", "2", "--root", "1"},
                "has no root"},
        Refusal{{"info", "--markdown-parameters", "-J", "x"}, "json"}));

TEST(InfoTest, ShowsUcxAndEveryParameter) {
  const std::string path = NewPath("info.json");
  const Finished run =
      RunRondo({"info", "-J", path},
               {{"RONDO_TIMEOUT_MS", "7777"}, {"RONDO_TIMEOUT_SM", "1"}});
  EXPECT_EQ(run.exit_status, 0) << run.standard_error;
  EXPECT_TRUE(Contains(run.standard_output, "UCX 1."));
  EXPECT_TRUE(Contains(run.standard_output,
                       "RONDO_TIMEOUT_MS = 7777  (from environment"));
  EXPECT_TRUE(Contains(run.standard_output, "Warning: "));
  const Json json = Json::parse(FileText(path));
  EXPECT_FALSE(json["ucx"]["resources"].empty());
  EXPECT_EQ(json["warnings"].size(), 1u);
}

TEST(InfoTest, RefusesABadParameter) {
  const Finished run = RunRondo({"info"}, {{"RONDO_TIMEOUT_MS", "soon"}});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_TRUE(Contains(run.standard_error, "soon")) << run.standard_error;
}

TEST(InfoTest, PrintsTheTableForTheReadme) {
  const Finished run = RunRondo({"info", "--markdown-parameters"},
                                {{"RONDO_TIMEOUT_MS", "7777"}});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_TRUE(Contains(run.standard_output, "| `RONDO_TIMEOUT_MS` |"));
  EXPECT_FALSE(Contains(run.standard_output, "7777"));
}

TEST(PlanTest, PrintsProvedPlans) {
  for (const char* collective : {"all_gather", "reduce_scatter", "sharded_step",
                                 "broadcast", "barrier"}) {
    const Finished run = RunRondo({"plan", collective, "--ranks", "6"});
    EXPECT_EQ(run.exit_status, 0) << run.standard_error;
    EXPECT_TRUE(Contains(run.standard_output, "verified:"));
    EXPECT_TRUE(Contains(run.standard_output, "\nrank 5"));
  }
}

TEST(PlanTest, JsonAndTraceParse) {
  const std::string path = NewPath("plan.json");
  const Finished run = RunRondo({"plan", "broadcast", "--ranks", "5", "--root",
                                 "2", "--format", "json", "-J", path});
  EXPECT_EQ(run.exit_status, 0) << run.standard_error;
  EXPECT_EQ(run.standard_output, FileText(path));
  const Json plan = Json::parse(run.standard_output);
  EXPECT_EQ(plan["root"], 2);
  EXPECT_EQ(plan["verified"], true);
  EXPECT_EQ(plan["programs"].size(), 5u);
  const Finished trace =
      RunRondo({"plan", "all_gather", "--ranks", "3", "--format", "trace"});
  EXPECT_FALSE(Json::parse(trace.standard_output)["traceEvents"].empty());
}

TEST(PlanTest, LargeWorldsAreSummarized) {
  const Finished run = RunRondo({"plan", "all_gather", "--ranks", "100"});
  EXPECT_EQ(run.exit_status, 0) << run.standard_error;
  EXPECT_TRUE(Contains(run.standard_output, "... and 97 more ranks"));
  EXPECT_FALSE(Contains(run.standard_output, "\nrank 50"));
  const Finished all =
      RunRondo({"plan", "all_gather", "--ranks", "20", "--all"});
  EXPECT_TRUE(Contains(all.standard_output, "\nrank 19"));
  const Finished one =
      RunRondo({"plan", "barrier", "--ranks", "65536", "--rank", "777"});
  EXPECT_EQ(one.exit_status, 0) << one.standard_error;
  EXPECT_TRUE(Contains(one.standard_output, "\nrank 777"));
  EXPECT_TRUE(Contains(one.standard_error, "not verified"));
}

class StepTest : public testing::TestWithParam<int> {};

TEST_P(StepTest, EveryWayEqualsTheReference) {
  for (const char* type : {"float", "bfloat16"}) {
    const std::string path = NewPath("step.json");
    const Finished run = RunRondo(
        {"perf", "step", "--params", "10007", "--ranks",
         std::to_string(GetParam()), "--grad-type", type, "--param-type", type,
         "--bucket", "4096", "-n", "2", "-w", "0", "-J", path});
    EXPECT_EQ(run.exit_status, 0) << run.standard_output << run.standard_error;
    const Json json = Json::parse(FileText(path));
    EXPECT_EQ(json["params"], 10007);
    EXPECT_EQ(json["ranks"], GetParam());
    EXPECT_EQ(json["wrong"], 0);
    EXPECT_EQ(json["checked"], 10007);
    for (const char* key :
         {"fused_ms", "fused_clip_ms", "unfused_ms", "unfused_clip_ms",
          "unfused_clip_best_ms", "limit_ms", "limit_gbs", "copy_gbs",
          "state_bytes"}) {
      EXPECT_GT(json[key], 0) << key;
    }
    for (const Json& way : json["ways"]) {
      EXPECT_EQ(way["round_ms"].size(), 2u) << way;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, StepTest, testing::Values(1, 2, 3));

TEST(StepOptionTest, OrdinaryMemoryAndNoCheck) {
  const std::string path = NewPath("step.json");
  const Finished run =
      RunRondo({"perf", "step", "--params", "5000", "--ranks", "2", "--buffers",
                "user", "-n", "1", "-w", "0", "-c", "0", "-J", path});
  EXPECT_EQ(run.exit_status, 0) << run.standard_error;
  EXPECT_TRUE(Contains(run.standard_output, "not checked"));
  const Json json = Json::parse(FileText(path));
  EXPECT_EQ(json["buffers"], "user");
  EXPECT_TRUE(json["wrong"].is_null());
}

TEST(StepFaultTest, CorruptedParametersAreCounted) {
  const std::string path = NewPath("step.json");
  const Finished run = RunRondo({"perf", "step", "--params", "64Ki", "--ranks",
                                 "3", "-n", "1", "-w", "0", "-J", path},
                                {{"RONDO_FAULT", "corrupt:1"}});
  EXPECT_EQ(run.exit_status, 1) << run.standard_output << run.standard_error;
  EXPECT_GT(Json::parse(FileText(path))["wrong"], 0);
}

TEST(TrainTest, LossFallsAndTheCurveIsDrawn) {
  const std::string svg = NewPath("loss.svg");
  const std::string json = NewPath("train.json");
  const std::string text = NewPath("text.txt");
  RunRondo({"info", "-J", text});  // any text will do
  const Finished run = RunRondo({"train", "--ranks", "2", "--steps", "40",
                                 "--text", text, "--svg", svg, "-J", json});
  EXPECT_EQ(run.exit_status, 0) << run.standard_error;
  const Json losses = Json::parse(FileText(json))["losses"];
  ASSERT_EQ(losses.size(), 40u);
  EXPECT_LT(losses[39].get<double>(), losses[0].get<double>() - 0.3);
  EXPECT_TRUE(Contains(FileText(svg), "<svg"));
}

TEST(TrainTest, NamesATextThatIsNotThere) {
  const Finished run = RunRondo({"train", "--ranks", "2", "--text",
                                 "/nonexistent/book.txt", "--svg", ""});
  EXPECT_NE(run.exit_status, 0);
  EXPECT_TRUE(Contains(run.standard_error, "/nonexistent/book.txt"))
      << run.standard_error;
}

}  // namespace
}  // namespace rondo::perf
