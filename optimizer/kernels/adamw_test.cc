#include "optimizer/kernels/adamw.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "optimizer/kernels/adamw_reference.h"

namespace rondo {
namespace {

constexpr int kSteps = 10;
constexpr size_t kCount = 1003;

// Large values, so that every term of the formula shows in the result; and the
// usual ones.
AdamWHyper LargeHyper() {
  return {.learning_rate = 0.05,
          .beta1 = 0.1,
          .beta2 = 0.2,
          .epsilon = 0.25,
          .weight_decay = 0.1};
}
AdamWHyper UsualHyper() { return {}; }
AdamWHyper L2Hyper() {
  AdamWHyper hyper = LargeHyper();
  hyper.decoupled = false;
  return hyper;
}

struct State {
  std::vector<float> p, m, v;
};

std::vector<float> RandomFloats(size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

std::vector<float> GradientOfStep(int step) {
  return RandomFloats(kCount, 100 + step);
}

// How the implementation under test is to differ from the real one.
struct Defect {
  bool no_bias_correction = false;
  bool no_decay = false;
};

State RunFloat(const AdamWHyper& hyper, Defect defect = {}) {
  State state{RandomFloats(kCount, 1), std::vector<float>(kCount),
              std::vector<float>(kCount)};
  for (int step = 1; step <= kSteps; ++step) {
    AdamWConstants constants =
        MakeAdamWConstants(hyper, step, !defect.no_decay);
    if (defect.no_bias_correction) {
      constants.sqrt_bias_correction2 = 1;
      constants.negative_step_size = static_cast<float>(-hyper.learning_rate);
    }
    const std::vector<float> gradient = GradientOfStep(step);
    for (size_t i = 0; i < kCount; ++i) {
      AdamWElement(constants, gradient[i], &state.p[i], &state.m[i],
                   &state.v[i]);
    }
  }
  return state;
}

std::vector<AdamWReference> RunReference(const AdamWHyper& hyper) {
  std::vector<AdamWReference> elements;
  for (float initial : RandomFloats(kCount, 1)) elements.emplace_back(initial);
  for (int step = 1; step <= kSteps; ++step) {
    const std::vector<float> gradient = GradientOfStep(step);
    for (size_t i = 0; i < kCount; ++i) {
      elements[i].Step(hyper, step, /*decay=*/true, gradient[i], 0);
    }
  }
  return elements;
}

// Elements whose parameter or moments are further off than their bound.
int CountOutside(const State& state,
                 const std::vector<AdamWReference>& reference) {
  int outside = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const AdamWReference& element = reference[i];
    const bool inside =
        std::abs(state.p[i] - element.p()) <= element.p_bound() &&
        std::abs(state.m[i] - element.m()) <= element.m_bound() &&
        std::abs(state.v[i] - element.v()) <= element.v_bound();
    if (!inside) ++outside;
  }
  return outside;
}

class AdamWAccuracyTest : public testing::TestWithParam<AdamWHyper> {};

TEST_P(AdamWAccuracyTest, EveryElementStaysWithinTheDerivedBound) {
  EXPECT_EQ(CountOutside(RunFloat(GetParam()), RunReference(GetParam())), 0);
}

// A bound that anything passes would prove nothing.
TEST_P(AdamWAccuracyTest, TheBoundIsTight) {
  for (const AdamWReference& element : RunReference(GetParam())) {
    EXPECT_LT(element.p_bound(), 2e-5 * (1 + std::abs(element.p())));
  }
}

TEST_P(AdamWAccuracyTest, TwoSwappedElementsAreCaught) {
  State state = RunFloat(GetParam());
  std::swap(state.p[3], state.p[4]);
  EXPECT_EQ(CountOutside(state, RunReference(GetParam())), 2);
}

TEST_P(AdamWAccuracyTest, MissingBiasCorrectionIsCaught) {
  const State state = RunFloat(GetParam(), {.no_bias_correction = true});
  EXPECT_GT(CountOutside(state, RunReference(GetParam())), int{kCount} / 2);
}

TEST_P(AdamWAccuracyTest, MissingDecayIsCaught) {
  const State state = RunFloat(GetParam(), {.no_decay = true});
  EXPECT_GT(CountOutside(state, RunReference(GetParam())), int{kCount} / 2);
}

INSTANTIATE_TEST_SUITE_P(Hypers, AdamWAccuracyTest,
                         testing::Values(LargeHyper(), UsualHyper(),
                                         L2Hyper()));

// Against numbers worked out by hand: p = 1, g = 2, one step.
TEST(AdamWTest, FirstStepByHand) {
  // m = 0.2 and v = 0.004; corrected: 2 and 4. So p = 1 * (1 - 0.1 * 0.5) -
  // 0.1 * 2 / (2 + 0.5) = 0.95 - 0.08.
  const AdamWHyper hyper{
      .learning_rate = 0.1, .epsilon = 0.5, .weight_decay = 0.5};
  float p = 1, m = 0, v = 0;
  AdamWElement(MakeAdamWConstants(hyper, 1), 2, &p, &m, &v);
  EXPECT_FLOAT_EQ(m, 0.2f);
  EXPECT_FLOAT_EQ(v, 0.004f);
  EXPECT_FLOAT_EQ(p, 0.87f);
}

TEST(AdamWTest, ConstantsAreRoundedOnceFromDouble) {
  const AdamWConstants constants = MakeAdamWConstants({}, 1000);
  EXPECT_EQ(constants.one_minus_beta2, static_cast<float>(0.001));
  EXPECT_NE(constants.one_minus_beta2, 1.0f - 0.999f);
}

TEST(AdamWTest, ZeroGradientsOnFreshStateMoveNothing) {
  float p = 1.5f, m = 0, v = 0;
  AdamWElement(MakeAdamWConstants({}, 1, /*decay=*/false), 0, &p, &m, &v);
  EXPECT_EQ(p, 1.5f);
  EXPECT_EQ(m, 0.0f);
  EXPECT_EQ(v, 0.0f);
}

TEST(AdamWTest, RefusesBadHyperParametersByName) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<std::string, AdamWHyper>> refused = {
      {"learning_rate is -1", {.learning_rate = -1}},
      {"learning_rate is nan", {.learning_rate = nan}},
      {"beta1 is 1", {.beta1 = 1}},
      {"beta2 is 0.9999999999", {.beta2 = 0.9999999999}},
      {"epsilon is 0", {.epsilon = 0}},
      {"epsilon is 1e-60", {.epsilon = 1e-60}},
      {"weight_decay is inf", {.weight_decay = infinity}},
  };
  for (const auto& [message, hyper] : refused) {
    const Status status = CheckAdamWHyper(hyper);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << message;
    EXPECT_EQ(status.message().find(message), 0u) << status.message();
  }
  EXPECT_TRUE(CheckAdamWHyper({.beta1 = 0, .beta2 = 0}).ok());
}

}  // namespace
}  // namespace rondo
