#include "optimizer/sharded_optimizer.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "collectives/kernels/convert.h"
#include "collectives/testing/world.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "optimizer/kernels/adam_rule.h"
#include "optimizer/testing/optimizer_run.h"

namespace rondo {
namespace {

using testing::HasSubstr;

constexpr AdamHyper kHyper{.learning_rate = 0.05,
                           .beta1 = 0.1,
                           .beta2 = 0.2,
                           .epsilon = 0.25,
                           .weight_decay = 0.1};

// AdamW in double, element by element.
struct Reference {
  double p, m = 0, v = 0;

  void Step(const AdamHyper& hyper, int64_t step, double g) {
    p *= 1 - hyper.learning_rate * hyper.weight_decay;
    m = hyper.beta1 * m + (1 - hyper.beta1) * g;
    v = hyper.beta2 * v + (1 - hyper.beta2) * g * g;
    const double c1 = 1 - std::pow(hyper.beta1, step);
    const double c2 = 1 - std::pow(hyper.beta2, step);
    p -= hyper.learning_rate / c1 * m / (std::sqrt(v / c2) + hyper.epsilon);
  }
};

float Rounded(DataType type, float value) {
  std::vector<char> bytes(8);
  float back = 0;
  EXPECT_TRUE(
      ConvertElements(DataType::kFloat32, &value, type, bytes.data(), 1).ok());
  EXPECT_TRUE(
      ConvertElements(type, bytes.data(), DataType::kFloat32, &back, 1).ok());
  return back;
}

// The mean gradient in double, of rounded gradients.
std::vector<double> MeanGradient(const OptimizerRun& run, int parameter,
                                 int step) {
  const size_t count = run.options.parameters[parameter].count();
  std::vector<double> mean(count, 0);
  for (int rank = 0; rank < run.ranks; ++rank) {
    const std::vector<float> one = GradientOf(count, parameter, step, rank);
    for (size_t i = 0; i < count; ++i) {
      mean[i] += Rounded(run.options.gradient_type, one[i]) / double(run.ranks);
    }
  }
  return mean;
}

double NormOf(const OptimizerRun& run, int step) {
  double sum = 0;
  for (size_t p = 0; p < run.options.parameters.size(); ++p) {
    for (double g : MeanGradient(run, static_cast<int>(p), step)) sum += g * g;
  }
  return std::sqrt(sum);
}

// The largest error of a master parameter against double.
double LargestError(const OptimizerRun& run, const RunOutcome& outcome) {
  double largest = 0;
  for (size_t p = 0; p < run.options.parameters.size(); ++p) {
    const LayoutParameter& parameter = run.options.parameters[p];
    AdamHyper hyper = kHyper;
    if (parameter.group == 1) {
      hyper.weight_decay = 0;
      hyper.learning_rate = 0.03;
    }
    const std::vector<float> initial =
        InitialOf(parameter.count(), static_cast<int>(p));
    std::vector<Reference> elements;
    for (float value : initial) {
      elements.push_back({Rounded(parameter.type, value)});
    }
    for (int step = 1; step <= run.steps; ++step) {
      const auto mean = MeanGradient(run, static_cast<int>(p), step);
      double factor = 1;
      if (run.step_options.max_norm > 0) {
        factor = std::min(
            1.0, run.step_options.max_norm / (NormOf(run, step) + 1e-6));
      }
      for (size_t i = 0; i < elements.size(); ++i) {
        elements[i].Step(hyper, step, mean[i] * factor);
      }
    }
    for (size_t i = 0; i < elements.size(); ++i) {
      largest =
          std::max(largest, std::abs(elements[i].p - outcome.master[p][i]));
    }
  }
  return largest;
}

constexpr double kTolerance = 5e-6;  // numbers of about 1, after a few steps

class ShardedOptimizerTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, ShardedOptimizerTest,
                         testing::Values(1, 2, 3, 5, 7, 8));

TEST_P(ShardedOptimizerTest, FollowsAdamInDouble) {
  for (DataType gradient : {DataType::kFloat32, DataType::kBfloat16}) {
    for (DataType parameter : {DataType::kFloat32, DataType::kFloat16}) {
      OptimizerRun run{.ranks = GetParam()};
      run.options.parameters = SomeParameters(parameter);
      run.options.gradient_type = gradient;
      run.options.bucket_count_target = 4096;
      const RunOutcome outcome = RunOptimizer(run);
      EXPECT_LT(LargestError(run, outcome), kTolerance);
      for (size_t p = 0; p < outcome.parameters.size(); ++p) {
        for (size_t i = 0; i < outcome.parameters[p].size(); ++i) {
          ASSERT_EQ(outcome.parameters[p][i],
                    Rounded(parameter, outcome.master[p][i]));
        }
      }
    }
  }
}

TEST_P(ShardedOptimizerTest, ClipsByTheNormOfAllParameters) {
  OptimizerRun run{.ranks = GetParam()};
  run.options.parameters = SomeParameters();
  run.step_options.max_norm = 3;
  const RunOutcome outcome = RunOptimizer(run);
  EXPECT_LT(LargestError(run, outcome), kTolerance);
  const double norm = NormOf(run, 2);
  EXPECT_NEAR(outcome.results[1].norm, norm, 1e-6 * norm);
  EXPECT_NEAR(outcome.results[1].coefficient, 3 / (norm + 1e-6), 1e-6);
  EXPECT_TRUE(outcome.results[1].measured);
  // The control: what another clipping gives is not accepted.
  run.step_options.max_norm = 4;
  EXPECT_GT(LargestError(run, outcome), kTolerance);
}

TEST(ShardedOptimizerControlTest, AWrongHyperParameterIsSeen) {
  OptimizerRun run{.ranks = 2};
  run.options.parameters = SomeParameters();
  run.before_step = [](int step, UpdateRule* rule) {
    AdamHyper hyper = kHyper;
    if (step == 3) hyper.weight_decay = 0.11;
    EXPECT_TRUE(static_cast<AdamRule*>(rule)->SetGroup(0, hyper).ok());
  };
  EXPECT_GT(LargestError(run, RunOptimizer(run)), kTolerance);
}

TEST(ShardedOptimizerTest, ALossScaleIsDividedOut) {
  OptimizerRun run{.ranks = 2};
  run.options.parameters = SomeParameters();
  const RunOutcome plain = RunOptimizer(run);
  run.step_options.loss_scale = 1024;
  run.adjust_gradient = [](int, int, int, std::vector<float>* gradient) {
    for (float& value : *gradient) value *= 1024;
  };
  const RunOutcome scaled = RunOptimizer(run);
  EXPECT_EQ(scaled.master, plain.master);
}

TEST(ShardedOptimizerTest, AStepWithAnInfinityIsSkippedEverywhere) {
  const float bad[] = {std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::quiet_NaN()};
  for (float value : bad) {
    OptimizerRun run{.ranks = 3};
    run.options.parameters = SomeParameters();
    run.step_options.skip_non_finite = true;
    run.steps = 3;
    run.adjust_gradient = [value](int step, int rank, int parameter,
                                  std::vector<float>* gradient) {
      if (step == 2 && rank == 2 && parameter == 4) (*gradient)[6] = value;
    };
    const RunOutcome outcome = RunOptimizer(run);
    EXPECT_TRUE(outcome.results[1].skipped);
    EXPECT_FALSE(outcome.results[1].finite);
    EXPECT_EQ(outcome.results[1].step, 1);
    EXPECT_EQ(outcome.results[2].step, 2);
    // As if there had been no such step.
    OptimizerRun without{.ranks = 3};
    without.options.parameters = run.options.parameters;
    without.steps = 2;
    without.adjust_gradient = [](int step, int rank, int parameter,
                                 std::vector<float>* gradient) {
      if (step == 2) {
        *gradient = GradientOf(gradient->size(), parameter, 3, rank);
      }
    };
    EXPECT_EQ(outcome.master, RunOptimizer(without).master);
  }
}

TEST(ShardedOptimizerTest, FrozenAndTiedParametersKeepTheirPlace) {
  OptimizerRun run{.ranks = 2};
  run.options.parameters = {
      {.name = "wte", .shape = {50, 8}},
      {.name = "frozen", .shape = {300}, .frozen = true},
      {.name = "w", .shape = {77}},
      {.name = "head", .shape = {50, 8}, .tied_to = "wte"}};
  run.step_options.max_norm = 1e9;
  const RunOutcome outcome = RunOptimizer(run);
  EXPECT_EQ(outcome.parameters[1], InitialOf(300, 1));
  EXPECT_EQ(outcome.parameters[3], outcome.parameters[0]);
  double sum = 0;
  for (int p : {0, 2}) {
    for (double g : MeanGradient(run, p, 1)) sum += g * g;
  }
  EXPECT_NEAR(outcome.results[0].norm, std::sqrt(sum), 1e-6 * std::sqrt(sum));
}

std::unique_ptr<UpdateRule> OneGroup(double learning_rate = 0.1) {
  return *AdamRule::Create({{.learning_rate = learning_rate}});
}

TEST(ShardedOptimizerTest, BytesAreTheFormulasPlusPadding) {
  RunWorld({.ranks = 3}, [](Communicator& comm) {
    ShardedOptimizerOptions options;
    options.parameters = {
        {.name = "p", .shape = {10'000}, .type = DataType::kBfloat16}};
    std::vector<char> parameters(1 << 20);
    auto optimizer =
        ShardedOptimizer::Create(&comm, OneGroup(), options, parameters.data());
    ASSERT_TRUE(optimizer.ok());
    // 10 tiles of 1024, and so 12 for three ranks, 4 each.
    const OptimizerBytes bytes = (*optimizer)->bytes();
    EXPECT_EQ(bytes.layout.parameters.used, 20'000u);
    EXPECT_EQ(bytes.layout.gradients.used, 40'000u);
    EXPECT_EQ(bytes.layout.master.total(), 4u * 4096);
    EXPECT_EQ(bytes.layout.moments.total(), 8u * 4096);
    EXPECT_EQ(bytes.scratch.total(), 0u);
    EXPECT_EQ((*optimizer)->master().size(), 4096u);
  });
}

// What Create() says on a rank when rank 1 does something else.
std::string CreateMessage(
    Communicator& comm,
    const std::function<void(ShardedOptimizerOptions*, std::vector<float>*)>&
        differ) {
  ShardedOptimizerOptions options;
  options.parameters = {{.name = "a", .shape = {3000}},
                        {.name = "b", .shape = {70}}};
  std::vector<float> parameters(8192, 1);
  if (comm.rank() == 1) differ(&options, &parameters);
  const auto optimizer =
      ShardedOptimizer::Create(&comm, OneGroup(), options, parameters.data());
  EXPECT_FALSE(optimizer.ok());
  return optimizer.status().ToString();
}

TEST(ShardedOptimizerErrorTest, RanksThatDifferAreNamedWithTheParameter) {
  RunWorld({.ranks = 3}, [](Communicator& comm) {
    std::string message = CreateMessage(
        comm, [](ShardedOptimizerOptions* options, std::vector<float>*) {
          options->parameters[1].shape = {71};
        });
    EXPECT_THAT(message, HasSubstr("parameter 1"));
    EXPECT_THAT(message, HasSubstr("rank 1"));
    message = CreateMessage(comm, [](ShardedOptimizerOptions* options,
                                     std::vector<float>* values) {
      auto layout = ModelLayout::Create(options->parameters, {.world_size = 3});
      (*values)[layout->PlaceOf(0).parameter_offset_bytes / 4 + 2999] = 2;
    });
    EXPECT_THAT(message, HasSubstr("parameter 0 ('a')"));
    message = CreateMessage(
        comm, [](ShardedOptimizerOptions* options, std::vector<float>*) {
          options->gradient_type = DataType::kInt32;
        });
    EXPECT_THAT(message, HasSubstr("rank 1"));
    message = CreateMessage(
        comm, [](ShardedOptimizerOptions* options, std::vector<float>*) {
          options->parameters[0].group = 1;
        });
    EXPECT_THAT(message, HasSubstr("rank 1"));
  });
}

TEST(ShardedOptimizerErrorTest, ALearningRateThatDiffersIsFoundAtTheStep) {
  RunWorld({.ranks = 2}, [](Communicator& comm) {
    ShardedOptimizerOptions options;
    options.parameters = {{.name = "a", .shape = {3000}}};
    std::vector<float> parameters(4096, 1), gradients(4096, 1);
    auto optimizer = ShardedOptimizer::Create(
        &comm, OneGroup(comm.rank() + 0.5), options, parameters.data());
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    const auto result = (*optimizer)->Step(gradients.data(), parameters.data());
    EXPECT_EQ(result.status().code(), Code::kMismatch);
    EXPECT_THAT(result.status().ToString(), HasSubstr("settings"));
    // The state is not to be trusted any more.
    EXPECT_FALSE((*optimizer)->Step(gradients.data(), parameters.data()).ok());
  });
}

TEST(ShardedOptimizerErrorTest, RefusedArgumentsChangeNothing) {
  RunWorld({.ranks = 1}, [](Communicator& comm) {
    ShardedOptimizerOptions options;
    options.parameters = {{.name = "a", .shape = {30}}};
    std::vector<float> parameters(1024, 1), gradients(1024, 1);
    auto made =
        ShardedOptimizer::Create(&comm, OneGroup(), options, parameters.data());
    ASSERT_TRUE(made.ok());
    ShardedOptimizer& optimizer = **made;
    const auto message = [&](const StepOptions& step) {
      return optimizer.Step(gradients.data(), parameters.data(), step)
          .status()
          .ToString();
    };
    EXPECT_THAT(message({.max_norm = -1}), HasSubstr("max_norm is -1"));
    EXPECT_THAT(message({.loss_scale = 0}), HasSubstr("loss_scale is 0"));
    EXPECT_THAT(message({.loss_scale = 1e46}),
                HasSubstr("loss_scale is 1e+46"));
    EXPECT_FALSE(optimizer.Step(nullptr, parameters.data()).ok());
    EXPECT_THAT(optimizer.Step(parameters.data() + 1000, parameters.data())
                    .status()
                    .ToString(),
                HasSubstr("overlap on rank 0"));
    EXPECT_FALSE(
        optimizer.SetParameter(0, std::vector<float>(30), nullptr).ok());
    EXPECT_FALSE(optimizer.SetParameter(1, {}, parameters.data()).ok());
    EXPECT_FALSE(optimizer.SetParameter(0, {}, parameters.data()).ok());
    EXPECT_EQ(optimizer.steps(), 0);
    EXPECT_TRUE(optimizer.Step(gradients.data(), parameters.data()).ok());
    EXPECT_EQ(optimizer.steps(), 1);
  });
}

TEST(ShardedOptimizerTest, SetParameterKeepsTheDigitsOfTheMasterCopy) {
  RunWorld({.ranks = 2}, [](Communicator& comm) {
    ShardedOptimizerOptions options;
    options.parameters = {
        {.name = "a", .shape = {3000}, .type = DataType::kBfloat16}};
    std::vector<uint16_t> parameters(4096, 0);
    auto optimizer =
        ShardedOptimizer::Create(&comm, OneGroup(), options, parameters.data());
    ASSERT_TRUE(optimizer.ok());
    const std::vector<float> values(3000, 1.001f);
    ASSERT_TRUE((*optimizer)->SetParameter(0, values, parameters.data()).ok());
    EXPECT_EQ((*optimizer)->master()[5], 1.001f);
    EXPECT_EQ(parameters[2999], 0x3f80);
  });
}

}  // namespace
}  // namespace rondo
