#include "optimizer/examples/train.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "collectives/testing/world.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace rondo {
namespace {

// A text with something to learn that does not depend on the machine.
std::string TextFile() {
  const std::string path = testing::TempDir() + "/train_test_text";
  std::ofstream stream(path);
  const char* words[] = {"ring", "shard", "gather", "rank", "reduce"};
  for (int i = 0; i < 2000; ++i) stream << words[i * i % 7 % 5] << ' ';
  return path;
}

TrainOptions SmallOptions() {
  TrainOptions options;
  options.steps = 40;
  options.global_batch = 32;
  options.context = 4;
  options.embedding = 8;
  options.hidden = 24;
  options.quiet = true;
  options.corpus_path = TextFile();
  return options;
}

// Trains on `ranks` ranks; the result of rank 0.
TrainResult TrainOn(int ranks, const TrainOptions& options) {
  TrainResult result;
  RunWorld({.ranks = ranks}, [&](Communicator& comm) {
    auto mine = Train(&comm, options);
    ASSERT_TRUE(mine.ok()) << mine.status().ToString();
    if (comm.rank() == 0) result = *std::move(mine);
  });
  return result;
}

double Mean(const std::vector<double>& losses, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += losses[i];
  return sum / static_cast<double>(end - begin);
}

TEST(TrainTest, TheLossFalls) {
  const TrainResult result = TrainOn(2, SmallOptions());
  ASSERT_EQ(result.losses.size(), 40u);
  // At first all characters are about equally likely.
  EXPECT_NEAR(result.losses[0], std::log(13.0), 0.7);
  EXPECT_LT(Mean(result.losses, 30, 40), 0.6 * Mean(result.losses, 0, 5));
}

// Gradients are added in another order by other numbers of ranks: in 200 steps
// of the default model the losses then differ by up to 4e-7. 3 does not divide
// the batch. A rank that saw another slice, or another weight, is off by 0.01.
TEST(TrainTest, AnyNumberOfRanksReachesTheSameLosses) {
  const TrainResult one = TrainOn(1, SmallOptions());
  for (int ranks : {2, 3, 4}) {
    const TrainResult more = TrainOn(ranks, SmallOptions());
    EXPECT_EQ(more.ranks, ranks);
    ASSERT_EQ(more.losses.size(), one.losses.size());
    EXPECT_NEAR(more.losses[0], one.losses[0], 1e-6);
    for (size_t i = 0; i < one.losses.size(); ++i) {
      EXPECT_NEAR(more.losses[i], one.losses[i], 1e-5) << "step " << i + 1;
    }
  }
  TrainOptions other = SmallOptions();
  other.seed = 2;
  EXPECT_GT(std::abs(TrainOn(1, other).losses[5] - one.losses[5]), 1e-2);
}

// Of the small model: five arrays, each of whole tiles of 1024 elements, and
// whole tiles for every rank.
size_t PaddedParameters(size_t parameters, size_t ranks) {
  const size_t vocabulary = (parameters - 24 - 24 * 32) / (8 + 24 + 1);
  size_t tiles = 0;
  for (size_t count : {8 * vocabulary, size_t{24 * 32}, size_t{24},
                       24 * vocabulary, vocabulary}) {
    tiles += (count + 1023) / 1024;
  }
  return (tiles + ranks - 1) / ranks * ranks * 1024;
}

TEST(TrainTest, FusedAndSeparateStepsReachTheSameLosses) {
  for (double max_norm : {0.0, 0.1}) {
    TrainOptions options = SmallOptions();
    options.parameter_type = DataType::kBfloat16;
    options.max_norm = max_norm;
    const TrainResult fused = TrainOn(3, options);
    options.schedule = StepSchedule::kSeparate;
    EXPECT_EQ(TrainOn(3, options).losses, fused.losses);
    options.max_norm = 0.2;  // the control
    EXPECT_NE(TrainOn(3, options).losses, fused.losses);
  }
}

TEST(TrainTest, LowPrecisionLearnsToo) {
  TrainOptions options = SmallOptions();
  options.parameter_type = DataType::kBfloat16;
  options.gradient_type = DataType::kBfloat16;
  const TrainResult result = TrainOn(2, options);
  EXPECT_LT(Mean(result.losses, 30, 40), 0.6 * Mean(result.losses, 0, 5));
  EXPECT_EQ(result.bytes[0].parameters,
            2 * PaddedParameters(result.parameters, 2));
}

TEST(TrainTest, StateIsShardedAndCounted) {
  const TrainResult result = TrainOn(3, SmallOptions());
  ASSERT_EQ(result.bytes.size(), 3u);
  size_t master = 0;
  size_t padding = 0;
  for (const TrainBytes& rank : result.bytes) {
    EXPECT_EQ(rank.parameters, 4 * PaddedParameters(result.parameters, 3));
    EXPECT_EQ(rank.moments, 2 * rank.master);
    EXPECT_EQ(rank.scratch, 0u);
    master += rank.master;
    padding += rank.padding;
  }
  EXPECT_EQ(master, 4 * PaddedParameters(result.parameters, 3));
  // Three copies of parameters and gradients, one of master and moments.
  EXPECT_EQ(padding, (6 + 3) * (master - 4 * result.parameters));
  EXPECT_GT(result.tokens_per_s, 0);
  EXPECT_EQ(result.sample.size(), 240u);
}

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(TrainTest, RankZeroWritesCurveAndJson) {
  TrainOptions options = SmallOptions();
  options.steps = 3;
  options.svg_path = testing::TempDir() + "/train_test.svg";
  options.json_path = testing::TempDir() + "/train_test.json";
  const TrainResult result = TrainOn(2, options);
  EXPECT_NE(ReadFile(options.svg_path).find("2 ranks"), std::string::npos);
  const auto json =
      nlohmann::json::parse(ReadFile(options.json_path), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["losses"].size(), 3u);
  EXPECT_EQ(json["losses"][2], result.losses[2]);
}

// What Train() says on two ranks when `change` was made to rank 1's options.
std::vector<std::string> Refusals(
    const std::function<void(TrainOptions*)>& change) {
  std::vector<std::string> messages(2);
  const TrainOptions small = SmallOptions();
  RunWorld({.ranks = 2}, [&](Communicator& comm) {
    TrainOptions options = small;
    if (comm.rank() == 1) change(&options);
    messages[comm.rank()] = Train(&comm, options).status().message();
  });
  return messages;
}

TEST(TrainTest, BadOptionsAreNamedOnTheRankAndKnownOnTheOther) {
  const auto messages =
      Refusals([](TrainOptions* options) { options->hidden = 0; });
  EXPECT_NE(messages[0].find("refused on rank 1"), std::string::npos)
      << messages[0];
  EXPECT_NE(messages[1].find("rank 1: hidden is 0: 1 to"), std::string::npos)
      << messages[1];
}

TEST(TrainTest, MissingAndShortTextsAreRefused) {
  EXPECT_NE(Refusals([](TrainOptions* options) {
              options->corpus_path = "/nowhere/text";
            })[1]
                .find("/nowhere/text"),
            std::string::npos);
  const std::string path = testing::TempDir() + "/train_test_short";
  std::ofstream(path) << "four";
  EXPECT_NE(
      Refusals([&](TrainOptions* options) { options->corpus_path = path; })[1]
          .find("has 4 characters: a context of 4 needs at least 5"),
      std::string::npos);
}

TEST(TrainTest, DifferentOptionsAndTextsAreFound) {
  for (const std::string& message :
       Refusals([](TrainOptions* options) { options->global_batch = 33; })) {
    EXPECT_NE(message.find("global_batch is 32 on rank 0 and 33 on rank 1"),
              std::string::npos)
        << message;
  }
  const std::string path = testing::TempDir() + "/train_test_other";
  const std::string text = ReadFile(TextFile());
  std::ofstream(path) << text.substr(1) << "r";
  for (const std::string& message :
       Refusals([&](TrainOptions* options) { options->corpus_path = path; })) {
    EXPECT_NE(message.find("the text is something"), std::string::npos)
        << message;
  }
}

}  // namespace
}  // namespace rondo
