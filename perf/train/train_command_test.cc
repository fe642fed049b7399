#include "perf/train/train_command.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

// The error, or "".
std::string Parse(std::vector<std::string> arguments,
                  TrainCommandOptions* options) {
  CLI::App app("test");
  AddTrainCommandOptions(&app, options);
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

TEST(TrainCommandTest, DefaultsAreThoseOfTheLibrary) {
  TrainCommandOptions options;
  ASSERT_EQ(Parse({}, &options), "");
  EXPECT_EQ(options.train.steps, TrainOptions().steps);
  EXPECT_EQ(options.train.global_batch, TrainOptions().global_batch);
  EXPECT_EQ(options.train.seed, TrainOptions().seed);
  EXPECT_EQ(options.train.learning_rate, TrainOptions().learning_rate);
  EXPECT_EQ(options.train.svg_path, "loss.svg");
}

TEST(TrainCommandTest, EveryOptionArrives) {
  TrainCommandOptions options;
  ASSERT_EQ(Parse({"--ranks",     "3",          "--steps",
                   "7",           "--batch",    "9",
                   "--lr",        "0.5",        "--weight-decay",
                   "0.25",        "--context",  "4",
                   "--embedding", "5",          "--hidden",
                   "6",           "--seed",     "18446744073709551615",
                   "--grad-type", "bfloat16",   "--param-type",
                   "half",        "--text",     "t",
                   "--svg",       "s",          "-J",
                   "j",           "--quiet",    "--max-norm",
                   "2.5",         "--schedule", "separate"},
                  &options),
            "");
  const TrainOptions& train = options.train;
  EXPECT_EQ(options.local_ranks, 3);
  EXPECT_EQ(train.steps, 7);
  EXPECT_EQ(train.global_batch, 9);
  EXPECT_EQ(train.learning_rate, 0.5);
  EXPECT_EQ(train.weight_decay, 0.25);
  EXPECT_EQ(train.context, 4);
  EXPECT_EQ(train.embedding, 5);
  EXPECT_EQ(train.hidden, 6);
  EXPECT_EQ(train.seed, UINT64_MAX);
  EXPECT_EQ(train.gradient_type, DataType::kBfloat16);
  EXPECT_EQ(train.parameter_type, DataType::kFloat16);
  EXPECT_EQ(train.corpus_path, "t");
  EXPECT_EQ(train.svg_path, "s");
  EXPECT_EQ(train.json_path, "j");
  EXPECT_TRUE(train.quiet);
  EXPECT_EQ(train.max_norm, 2.5);
  EXPECT_EQ(train.schedule, StepSchedule::kSeparate);
}

TEST(TrainCommandTest, RefusalsNameTheValue) {
  const std::vector<std::vector<std::string>> refused = {
      {"--steps", "none"},    {"--steps", "0"},        {"--batch", "-1"},
      {"--lr", "fast"},       {"--lr", "-0.5"},        {"--weight-decay", "x"},
      {"--hidden", "70000"},  {"--grad-type", "int8"}, {"--seed", "-3"},
      {"--param-type", "fp4"}};
  for (const auto& arguments : refused) {
    TrainCommandOptions options;
    const std::string error = Parse(arguments, &options);
    EXPECT_NE(error.find(arguments[1]), std::string::npos)
        << arguments[0] << ": " << error;
  }
}

}  // namespace
}  // namespace rondo::perf
