#include "optimizer/sharded_adamw.h"

#include <algorithm>
#include <cmath>
#include <latch>
#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/kernels/convert.h"
#include "collectives/testing/world.h"
#include "gtest/gtest.h"
#include "optimizer/kernels/adamw_reference.h"

namespace rondo {
namespace {

constexpr int kSteps = 5;
// Small pieces: many chunks of each shard.
const std::pair<std::string, std::string> kSmallChunks = {"RONDO_CHUNK_BYTES",
                                                          "512"};

std::vector<float> RandomFloats(size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

// Values that `type` can hold, and their bytes.
struct Typed {
  Typed(DataType type, const std::vector<float>& values)
      : bytes(values.size() * ElementSize(type)), floats(values.size()) {
    EXPECT_TRUE(ConvertElements(DataType::kFloat32, values.data(), type,
                                bytes.data(), values.size())
                    .ok());
    EXPECT_TRUE(ConvertElements(type, bytes.data(), DataType::kFloat32,
                                floats.data(), values.size())
                    .ok());
  }
  std::vector<char> bytes;
  std::vector<float> floats;
};

Typed GradientOf(DataType type, size_t count, int step, int rank) {
  return Typed(type, RandomFloats(count, 100 * step + rank));
}

// Every term of the formula shows in the result.
AdamWHyper LargeHyper() {
  return {.learning_rate = 0.05,
          .beta1 = 0.1,
          .beta2 = 0.2,
          .epsilon = 0.25,
          .weight_decay = 0.1};
}

ShardedAdamWOptions Options(const std::vector<size_t>& counts,
                            size_t alignment = 1) {
  ShardedAdamWOptions options;
  for (size_t count : counts) {
    const size_t index = options.parameters.size();
    options.parameters.push_back(
        {"p" + std::to_string(index), count, /*decay=*/index % 2 == 0});
  }
  options.hyper = LargeHyper();
  options.shard_alignment = alignment;
  return options;
}

size_t TotalCount(const ShardedAdamWOptions& options) {
  size_t total = 0;
  for (const ParameterSpec& one : options.parameters) total += one.count;
  return total;
}

// What a rank has after its steps.
struct Outcome {
  std::vector<char> parameters;
  std::vector<float> master;
};

// Runs kSteps steps on each of `ranks` ranks.
std::vector<Outcome> RunSteps(
    int ranks, const ShardedAdamWOptions& options,
    std::vector<std::pair<std::string, std::string>> settings = {
        kSmallChunks}) {
  const size_t total = TotalCount(options);
  std::vector<Outcome> outcomes(ranks);
  RunWorld({.ranks = ranks, .settings = settings}, [&](Communicator& comm) {
    auto optimizer =
        ShardedAdamW::Create(&comm, options, RandomFloats(total, 7).data());
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    Outcome& mine = outcomes[comm.rank()];
    mine.parameters.resize(total * ElementSize(options.parameter_type));
    for (int step = 1; step <= kSteps; ++step) {
      const Typed gradient =
          GradientOf(options.gradient_type, total, step, comm.rank());
      const Status status =
          (*optimizer)->Step(gradient.bytes.data(), mine.parameters.data());
      ASSERT_TRUE(status.ok()) << status.ToString();
    }
    EXPECT_EQ((*optimizer)->steps(), kSteps);
    mine.master = (*optimizer)->state().master();
  });
  return outcomes;
}

// AdamW in double on the sums over all ranks.
std::vector<AdamWReference> RunReference(int ranks,
                                         const ShardedAdamWOptions& options) {
  const size_t total = TotalCount(options);
  const double scale = options.average_gradients ? 1.0 / ranks : 1.0;
  // Partial sums may travel in the gradients' own type.
  const double unit_roundoff =
      options.gradient_type == DataType::kBfloat16 ? 0x1p-8 : 0x1p-24;
  const std::vector<float> initial = RandomFloats(total, 7);
  std::vector<AdamWReference> elements(initial.begin(), initial.end());
  for (int step = 1; step <= kSteps; ++step) {
    std::vector<GradientSum> sums(total);
    for (int rank = 0; rank < ranks; ++rank) {
      const Typed gradient =
          GradientOf(options.gradient_type, total, step, rank);
      for (size_t i = 0; i < total; ++i) sums[i].Add(gradient.floats[i]);
    }
    size_t i = 0;
    for (const ParameterSpec& parameter : options.parameters) {
      for (size_t k = 0; k < parameter.count; ++k, ++i) {
        elements[i].Step(options.hyper, step, parameter.decay,
                         sums[i].Scaled(scale),
                         sums[i].ScaledBound(scale, unit_roundoff));
      }
    }
  }
  return elements;
}

// Elements of `outcome` that are further off than their bound.
int CountOutside(const ShardedAdamWOptions& options, const Outcome& outcome,
                 const std::vector<AdamWReference>& reference) {
  std::vector<double> values(reference.size());
  EXPECT_TRUE(ConvertElements(options.parameter_type, outcome.parameters.data(),
                              DataType::kFloat64, values.data(), values.size())
                  .ok());
  int outside = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double error = std::abs(values[i] - reference[i].p());
    if (!(error <= reference[i].p_bound(options.parameter_type))) ++outside;
  }
  return outside;
}

struct Case {
  std::vector<size_t> counts;
  size_t alignment;
  DataType gradient_type;
  DataType parameter_type;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.counts.size() << " parameters, alignment " << c.alignment << ", "
       << DataTypeName(c.gradient_type) << " to "
       << DataTypeName(c.parameter_type);
}

class ShardedAdamWParityTest
    : public testing::TestWithParam<std::tuple<int, Case>> {
 protected:
  int ranks() const { return std::get<0>(GetParam()); }
  ShardedAdamWOptions options() const {
    const Case& c = std::get<1>(GetParam());
    ShardedAdamWOptions options = Options(c.counts, c.alignment);
    options.gradient_type = c.gradient_type;
    options.parameter_type = c.parameter_type;
    return options;
  }
};

TEST_P(ShardedAdamWParityTest, EqualsDoublePrecisionOnTheSummedGradients) {
  const std::vector<Outcome> outcomes = RunSteps(ranks(), options());
  const std::vector<AdamWReference> reference =
      RunReference(ranks(), options());
  EXPECT_EQ(CountOutside(options(), outcomes[0], reference), 0);
  size_t state = 0;
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.parameters, outcomes[0].parameters) << "ranks differ";
    state += outcome.master.size();
  }
  EXPECT_EQ(state, TotalCount(options())) << "state is held once";
}

constexpr DataType kF32 = DataType::kFloat32;
constexpr DataType kB16 = DataType::kBfloat16;

INSTANTIATE_TEST_SUITE_P(
    Worlds, ShardedAdamWParityTest,
    testing::Combine(
        testing::Values(1, 2, 3, 4),
        testing::Values(Case{{}, 1, kF32, kF32}, Case{{1}, 1, kF32, kF32},
                        Case{{2, 0, 1}, 1, kF32, kB16},
                        Case{{4001, 7, 2999}, 1, kF32, kF32},
                        Case{{4001, 7, 2999}, 1024, kF32, kB16},
                        Case{{1500, 3000}, 64, kB16, kF32},
                        Case{{5003}, 64, kB16, DataType::kFloat16})));

// The check above must be able to fail.
TEST(ShardedAdamWParityControl, WrongResultsAreOutsideTheBound) {
  const ShardedAdamWOptions options = Options({1003, 500});
  const std::vector<AdamWReference> reference = RunReference(2, options);
  Outcome outcome = RunSteps(2, options)[0];
  EXPECT_EQ(CountOutside(options, outcome, reference), 0);
  Outcome swapped = outcome;
  std::swap_ranges(swapped.parameters.begin(), swapped.parameters.begin() + 4,
                   swapped.parameters.begin() + 4);
  EXPECT_EQ(CountOutside(options, swapped, reference), 2);

  ShardedAdamWOptions wrong = options;
  wrong.parameters[1].decay = true;  // decay where there should be none
  EXPECT_GT(CountOutside(wrong, RunSteps(2, wrong)[0], reference), 250);
  wrong = options;
  wrong.average_gradients = false;  // a sum for an average
  EXPECT_GT(CountOutside(wrong, RunSteps(2, wrong)[0], reference), 750);
}

TEST(ShardedAdamWTest, ChunksAndShardBordersDoNotChangeBits) {
  // Two ranks add in either order: a + b is b + a.
  const std::vector<Outcome> small = RunSteps(2, Options({3001, 4002}, 1));
  const std::vector<Outcome> large =
      RunSteps(2, Options({3001, 4002}, 4096), /*settings=*/{});
  EXPECT_EQ(small[0].parameters, large[0].parameters);
}

TEST(ShardedAdamWTest, AStartedStepGivesTheSameBits) {
  const ShardedAdamWOptions options = Options({3001});
  const std::vector<Outcome> blocking = RunSteps(2, options);
  RunWorld({.ranks = 2, .settings = {kSmallChunks}}, [&](Communicator& comm) {
    auto optimizer =
        ShardedAdamW::Create(&comm, options, RandomFloats(3001, 7).data());
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    std::vector<float> parameters(3001);
    for (int step = 1; step <= kSteps; ++step) {
      const Typed gradient = GradientOf(kF32, 3001, step, comm.rank());
      auto request =
          (*optimizer)->StepStart(gradient.bytes.data(), parameters.data());
      ASSERT_TRUE(request.ok()) << request.status().ToString();
      EXPECT_TRUE(request->Wait().ok());
    }
    const char* bytes = reinterpret_cast<const char*>(parameters.data());
    EXPECT_TRUE(std::equal(blocking[0].parameters.begin(),
                           blocking[0].parameters.end(), bytes));
  });
}

TEST(ShardedAdamWTest, OneStepAtATimeAndTheDestructorWaits) {
  std::latch refused(1);
  RunWorld({.ranks = 2}, [&](Communicator& comm) {
    const std::vector<float> ones(64, 1.0f);
    std::vector<float> parameters(64);
    auto optimizer = ShardedAdamW::Create(&comm, Options({64}), ones.data());
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    // Rank 0's step cannot end before rank 1 has started its own.
    if (comm.rank() == 1) refused.wait();
    EXPECT_TRUE((*optimizer)->StepStart(ones.data(), parameters.data()).ok());
    if (comm.rank() == 0) {
      auto second = (*optimizer)->StepStart(ones.data(), parameters.data());
      EXPECT_EQ(second.status().code(), Code::kInvalidUsage);
      refused.count_down();
    }
    optimizer->reset();
    EXPECT_NE(parameters[0], 0.0f);
    EXPECT_EQ(parameters, std::vector<float>(64, parameters[0]));
  });
}

TEST(ShardedAdamWTest, TheLearningRateChangesFromTheNextStepOn) {
  RunWorld({.ranks = 2}, [](Communicator& comm) {
    const std::vector<float> ones(64, 1.0f);
    std::vector<float> parameters(64);
    ShardedAdamWOptions options = Options({64});
    options.hyper.weight_decay = 0;
    auto optimizer = ShardedAdamW::Create(&comm, options, ones.data());
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    EXPECT_TRUE((*optimizer)->SetLearningRate(0).ok());
    EXPECT_TRUE((*optimizer)->Step(ones.data(), parameters.data()).ok());
    EXPECT_EQ(parameters, ones);
    EXPECT_TRUE((*optimizer)->SetLearningRate(0.5).ok());
    EXPECT_TRUE((*optimizer)->Step(ones.data(), parameters.data()).ok());
    // m and v are corrected to 1: a step of 0.5 / (1 + 0.25).
    for (float value : parameters) EXPECT_NEAR(value, 0.6, 1e-6);
    EXPECT_FALSE((*optimizer)->SetLearningRate(-1).ok());
  });
}

TEST(ShardedAdamWTest, BytesAreCountedByClass) {
  RunWorld({.ranks = 3}, [](Communicator& comm) {
    const std::vector<float> zeros(2500, 0.0f);
    ShardedAdamWOptions options = Options({2000, 500}, 1024);
    options.parameter_type = kB16;
    auto optimizer = ShardedAdamW::Create(&comm, options, zeros.data());
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    const OptimizerBytes bytes = (*optimizer)->bytes();
    const size_t shard = comm.rank() < 2 ? 1024 : 452;
    EXPECT_EQ(bytes.parameters, 5000u);
    EXPECT_EQ(bytes.gradients, 10000u);
    EXPECT_EQ(bytes.master, 4 * shard);
    EXPECT_EQ(bytes.first_moment, 4 * shard);
    EXPECT_EQ(bytes.second_moment, 4 * shard);
    EXPECT_EQ(bytes.Total(), 15000 + 12 * shard + bytes.scratch);
  });
}

// What Create() says on each of three ranks when rank 1 has `odd` options.
std::vector<std::string> CreateMessages(const ShardedAdamWOptions& options,
                                        const ShardedAdamWOptions& odd,
                                        float odd_initial = 0) {
  std::vector<std::string> messages(3);
  RunWorld({.ranks = 3}, [&](Communicator& comm) {
    const bool is_odd = comm.rank() == 1;
    std::vector<float> initial(100, 0.0f);
    if (is_odd) initial[50] = odd_initial;
    auto optimizer =
        ShardedAdamW::Create(&comm, is_odd ? odd : options, initial.data());
    messages[comm.rank()] = optimizer.status().ToString();
    EXPECT_TRUE(comm.Barrier().ok()) << "the communicator stays usable";
  });
  return messages;
}

void ExpectAllSay(const std::vector<std::string>& messages,
                  const std::string& expected) {
  for (const std::string& message : messages) {
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  }
}

TEST(ShardedAdamWMismatchTest, EveryRankNamesRanksAndField) {
  const ShardedAdamWOptions options = Options({60, 40});
  ShardedAdamWOptions odd = options;
  odd.hyper.learning_rate = 0.25;
  ExpectAllSay(CreateMessages(options, odd),
               "learning_rate is 0.05 on ranks 0 and 2 and 0.25 on rank 1");
  odd = options;
  odd.gradient_type = kB16;
  ExpectAllSay(CreateMessages(options, odd), "gradient_type is");
  odd = Options({60, 30, 10});
  ExpectAllSay(CreateMessages(options, odd),
               "the number of parameters is 2 on ranks 0 and 2 and 3 on rank "
               "1");
}

TEST(ShardedAdamWMismatchTest, TheFirstDifferingParameterIsNamed) {
  const std::vector<std::string> messages =
      CreateMessages(Options({60, 40}), Options({60, 39}));
  ExpectAllSay(messages, "parameter 1 (");
  EXPECT_NE(messages[0].find("'p1', 40 elements"), std::string::npos);
  EXPECT_NE(messages[1].find("'p1', 39 elements"), std::string::npos);
}

TEST(ShardedAdamWMismatchTest, DifferentInitialValuesAreFound) {
  ExpectAllSay(CreateMessages(Options({100}), Options({100}), 1e-30f),
               "on ranks 0 and 2 and something");
}

TEST(ShardedAdamWMismatchTest, OneRanksBadArgumentsEndCreateOnAll) {
  ShardedAdamWOptions odd = Options({100});
  odd.hyper.beta1 = 3;
  const std::vector<std::string> messages = CreateMessages(Options({100}), odd);
  EXPECT_NE(messages[1].find("beta1 is 3"), std::string::npos) << messages[1];
  for (int rank : {0, 2}) {
    EXPECT_NE(messages[rank].find("refused on rank 1"), std::string::npos)
        << messages[rank];
  }
}

TEST(ShardedAdamWFailureTest, AFailedStepIsReturnedByAllLaterOnes) {
  RunWorld({.ranks = 2}, [](Communicator& comm) {
    const std::vector<float> ones(64, 1.0f);
    std::vector<float> parameters(64);
    auto optimizer = ShardedAdamW::Create(&comm, Options({64}), ones.data());
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    EXPECT_EQ((*optimizer)->Step(nullptr, parameters.data()).code(),
              Code::kInvalidArgument);
    ASSERT_TRUE((*optimizer)->Step(ones.data(), parameters.data()).ok());
    EXPECT_TRUE(comm.Barrier().ok());
    if (comm.rank() == 1) {
      comm.Abort("the test wants it");
      EXPECT_FALSE((*optimizer)->Step(ones.data(), parameters.data()).ok());
      return;
    }
    const Status first = (*optimizer)->Step(ones.data(), parameters.data());
    const Status second = (*optimizer)->Step(ones.data(), parameters.data());
    EXPECT_EQ(first.code(), Code::kAborted) << first.ToString();
    EXPECT_EQ(second.code(), Code::kAborted) << second.ToString();
  });
}

}  // namespace
}  // namespace rondo
