#include "perf/step/step_options.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

// The error, or "".
std::string Parse(std::vector<std::string> arguments,
                  StepBenchmarkOptions* options) {
  CLI::App app("test");
  AddStepOptions(&app, options);
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return FinishStepOptions(*options).message();
}

TEST(StepOptionsTest, EveryOptionArrives) {
  StepBenchmarkOptions options;
  ASSERT_EQ(Parse({"--params", "3Ki", "--grad-type", "bfloat16", "--param-type",
                   "half", "--buffers", "user", "--bucket", "4Ki", "-n", "9",
                   "-w", "0", "-c", "0"},
                  &options),
            "");
  EXPECT_EQ(options.parameters, 3072);
  EXPECT_EQ(options.gradient_type, DataType::kBfloat16);
  EXPECT_EQ(options.parameter_type, DataType::kFloat16);
  EXPECT_EQ(options.buffers, BufferKind::kUser);
  EXPECT_EQ(options.bucket_count_target, 4096);
  EXPECT_EQ(options.rounds, 9);
  EXPECT_EQ(options.warmup_rounds, 0);
  EXPECT_FALSE(options.check);
}

TEST(StepOptionsTest, MediansAreOfAtLeastFiveRounds) {
  StepBenchmarkOptions options;
  ASSERT_EQ(Parse({"--model", "gpt2"}, &options), "");
  EXPECT_EQ(options.model, "gpt2");
  EXPECT_GE(options.rounds, 5);
  EXPECT_TRUE(options.check);
}

TEST(StepOptionsTest, RefusalsNameTheValueAndWhatIsAccepted) {
  const std::tuple<std::vector<std::string>, const char*, const char*>
      refusals[] = {
          {{"--model", "gpt5"}, "gpt5", "gpt2"},
          {{"--grad-type", "int8"}, "int8", "bfloat16"},
          {{"--param-type", "double"}, "double", "half"},
          {{"--buffers", "pinned"}, "pinned", "symmetric"},
          {{"--bucket", "0"}, "\"0\"", "from 1"},
          {{"--params", "2Ti"}, "2199023255552", "1099511627776"},
          {{"--bucket", "2Ti"}, "2199023255552", "1099511627776"},
          {{"-n", "0"}, "\"0\"", "1 to"},
          {{"--model", "gpt2", "--params", "1Mi"}, "--params", "--model"}};
  for (const auto& [arguments, value, accepted] : refusals) {
    StepBenchmarkOptions options;
    const std::string error = Parse(arguments, &options);
    EXPECT_NE(error.find(value), std::string::npos) << error;
    EXPECT_NE(error.find(accepted), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace rondo::perf
