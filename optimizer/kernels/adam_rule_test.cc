#include "optimizer/kernels/adam_rule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/kernels/every_target.h"
#include "gtest/gtest.h"
#include "optimizer/kernels/rule_run.h"
#include "optimizer/kernels/tile.h"
#include "transports/base/status.h"

namespace rondo {
namespace {

constexpr int kSteps = 10;
constexpr size_t kCount = 1603;

// Large values, so that every term of the formula shows in the result.
AdamHyper LargeHyper(AdamMode mode, bool decoupled = true) {
  return {.learning_rate = 0.05,
          .beta1 = 0.1,
          .beta2 = 0.2,
          .epsilon = 0.25,
          .weight_decay = 0.1,
          .decoupled = decoupled,
          .mode = mode};
}

AdamHyper UsualHyper(AdamMode mode) { return {.mode = mode}; }

std::unique_ptr<AdamRule> MakeRule(std::vector<AdamHyper> groups) {
  auto rule = AdamRule::Create(std::move(groups));
  EXPECT_TRUE(rule.ok()) << rule.status().ToString();
  return *std::move(rule);
}

struct Reference {
  std::vector<double> p, m, v;
};

// Adam as published (Kingma and Ba 2015; Loshchilov and Hutter 2019), in
// double, with the defects that a comparison must see.
struct Defect {
  bool no_bias_correction = false;
  bool no_decay = false;
};

Reference RunReference(const AdamHyper& hyper, Defect defect = {}) {
  const std::vector<float> initial = InitialParameters(kCount);
  Reference r{{initial.begin(), initial.end()},
              std::vector<double>(kCount),
              std::vector<double>(kCount)};
  const double decay = defect.no_decay ? 0 : hyper.weight_decay;
  for (int step = 1; step <= kSteps; ++step) {
    const std::vector<float> gradient = GradientOfStep(kCount, step);
    const double c1 =
        defect.no_bias_correction ? 1 : 1 - std::pow(hyper.beta1, step);
    const double c2 =
        defect.no_bias_correction ? 1 : 1 - std::pow(hyper.beta2, step);
    for (size_t i = 0; i < kCount; ++i) {
      const double g = gradient[i] + (hyper.decoupled ? 0 : decay * r.p[i]);
      r.m[i] = hyper.beta1 * r.m[i] + (1 - hyper.beta1) * g;
      r.v[i] = hyper.beta2 * r.v[i] + (1 - hyper.beta2) * g * g;
      double direction = r.m[i] / c1 / (std::sqrt(r.v[i] / c2) + hyper.epsilon);
      if (hyper.decoupled) direction += decay * r.p[i];
      r.p[i] -= hyper.learning_rate * direction;
    }
  }
  return r;
}

int CountDifferent(const RuleRun& run, const Reference& reference) {
  return CountDifferent(run.parameter, reference.p, kParityTolerance) +
         CountDifferent(run.states[0], reference.m, kParityTolerance) +
         CountDifferent(run.states[1], reference.v, kParityTolerance);
}

class AdamRuleTest : public testing::TestWithParam<AdamHyper> {
 protected:
  AdamRuleTest() : rule_(MakeRule({GetParam()})), run_(*rule_, 0, kCount) {
    for (int step = 1; step <= kSteps; ++step) run_.Step(step);
  }

  std::unique_ptr<AdamRule> rule_;
  RuleRun run_;
};

TEST_P(AdamRuleTest, AgreesWithDoubleInEveryElement) {
  EXPECT_EQ(CountDifferent(run_, RunReference(GetParam())), 0);
}

TEST_P(AdamRuleTest, TwoSwappedElementsAreCaught) {
  std::swap(run_.parameter[3], run_.parameter[4]);
  EXPECT_EQ(CountDifferent(run_, RunReference(GetParam())), 2);
}

TEST_P(AdamRuleTest, MissingBiasCorrectionIsCaught) {
  const Reference wrong =
      RunReference(GetParam(), {.no_bias_correction = true});
  EXPECT_GT(CountDifferent(run_, wrong), int{kCount} / 2);
}

TEST_P(AdamRuleTest, MissingDecayIsCaught) {
  const Reference wrong = RunReference(GetParam(), {.no_decay = true});
  EXPECT_GT(CountDifferent(run_, wrong), int{kCount} / 2);
}

// One element as the header states it, in scalar code.
void ScalarStep(const AdamConstants& c, float g, float& p, float& m, float& v) {
  const auto lerp = [](float from, float to, float weight) {
    return weight < 0.5f ? from + weight * (to - from)
                         : to + (weight - 1) * (to - from);
  };
  if (!c.accurate) p = p * c.keep;
  if (c.l2_decay != 0) g = g + c.l2_decay * p;
  m = lerp(m, g, c.one_minus_beta1);
  if (c.accurate) {
    v = lerp(v, g * g, c.one_minus_beta2);
    const float root = std::sqrt(v * c.inverse_correction2);
    const float ratio = (m * c.inverse_correction1) / (root + c.epsilon);
    p = p + c.negative_rate * (ratio + c.decay * p);
  } else {
    v = v * c.beta2 + (c.one_minus_beta2 * g) * g;
    const float root = std::sqrt(v) * c.inverse_root_correction2;
    p = p + (c.negative_rate * m) / (root + c.epsilon);
  }
}

TEST_P(AdamRuleTest, HasTheBitsOfTheScalarLoopOnEveryVectorUnit) {
  std::vector<float> p = InitialParameters(kCount);
  std::vector<float> m(kCount), v(kCount);
  for (int step = 1; step <= 3; ++step) {
    const AdamConstants constants = MakeAdamConstants(GetParam(), step);
    const std::vector<float> gradient = GradientOfStep(kCount, step);
    for (size_t i = 0; i < kCount; ++i) {
      ScalarStep(constants, gradient[i], p[i], m[i], v[i]);
    }
  }
  ForEveryTarget([&](const std::string& unit) {
    RuleRun run(*rule_, 0, kCount);
    for (int step = 1; step <= 3; ++step) run.Step(step);
    EXPECT_EQ(BitsOf(run.parameter), BitsOf(p)) << unit;
    EXPECT_EQ(BitsOf(run.states[0]), BitsOf(m)) << unit;
    EXPECT_EQ(BitsOf(run.states[1]), BitsOf(v)) << unit;
  });
}

TEST_P(AdamRuleTest, BitsDependNeitherOnPlaceNorOnCount) {
  ForEveryTarget([&](const std::string& unit) {
    RuleRun whole(*rule_, 0, kTileElements);
    RuleRun cut(*rule_, 0, kTileElements);
    const std::vector<float> gradient = GradientOfStep(kTileElements, 1);
    ASSERT_TRUE(rule_->BeginStep(1).ok());
    whole.Apply(gradient, 0, kTileElements);
    size_t at = 0;
    for (size_t count = 1; at < kTileElements; at += count, count += 3) {
      count = std::min(count, kTileElements - at);
      cut.Apply(gradient, at, count);
    }
    EXPECT_EQ(BitsOf(whole.parameter), BitsOf(cut.parameter)) << unit;
    EXPECT_EQ(BitsOf(whole.states[0]), BitsOf(cut.states[0])) << unit;
    EXPECT_EQ(BitsOf(whole.states[1]), BitsOf(cut.states[1])) << unit;
  });
}

constexpr AdamMode kTorch = AdamMode::kTorchCompat;
constexpr AdamMode kAccurate = AdamMode::kAccurate;

INSTANTIATE_TEST_SUITE_P(
    Hypers, AdamRuleTest,
    testing::Values(LargeHyper(kTorch), LargeHyper(kTorch, false),
                    LargeHyper(kAccurate), LargeHyper(kAccurate, false),
                    UsualHyper(kTorch), UsualHyper(kAccurate)),
    [](const testing::TestParamInfo<AdamHyper>& info) {
      return std::string(AdamModeName(info.param.mode)) +
             (info.param.decoupled ? "_decoupled" : "_l2") +
             (info.param.beta1 < 0.5 ? "_large" : "_usual");
    });

// What the accurate mode is for: over many steps decay errs less.
TEST(AdamRuleModesTest, AccurateIsCloserToDoubleAfterManySteps) {
  constexpr int kManySteps = 4000;
  const double keep = 1 - 1e-3 * 0.01;
  double want[2];
  float got[2];
  for (int mode : {0, 1}) {
    const AdamHyper hyper = UsualHyper(mode == 0 ? kTorch : kAccurate);
    auto rule = MakeRule({hyper});
    float p = 1, m = 0, v = 0;
    float* states[] = {&m, &v};
    const float zero = 0;  // decay alone
    for (int step = 1; step <= kManySteps; ++step) {
      ASSERT_TRUE(rule->BeginStep(step).ok());
      rule->ApplyTile(0, &zero, &p, states, 1);
    }
    got[mode] = p;
    want[mode] = std::pow(keep, kManySteps);
  }
  EXPECT_LT(4 * std::abs(got[1] - want[1]), std::abs(got[0] - want[0]));
}

TEST(AdamRuleGroupsTest, EachGroupHasItsOwnHyperParameters) {
  const AdamHyper decayed = LargeHyper(kTorch);
  AdamHyper plain = decayed;
  plain.weight_decay = 0;
  auto rule = MakeRule({decayed, plain});
  RuleRun run(*rule, 1, kCount);
  for (int step = 1; step <= kSteps; ++step) run.Step(step);
  EXPECT_EQ(CountDifferent(run, RunReference(plain)), 0);
  EXPECT_GT(CountDifferent(run, RunReference(decayed)), int{kCount} / 2);
}

TEST(AdamRuleGroupsTest, ChangesApplyFromTheNextStep) {
  auto rule = MakeRule({{.learning_rate = 0.5}});
  ASSERT_TRUE(rule->BeginStep(1).ok());
  const uint64_t before = rule->Fingerprint();
  ASSERT_TRUE(rule->SetGroup(0, {.learning_rate = 0}).ok());
  EXPECT_EQ(rule->Fingerprint(), before);
  float p = 1, m = 0, v = 0;
  float* states[] = {&m, &v};
  const float gradient = 1;
  rule->ApplyTile(0, &gradient, &p, states, 1);
  const float moved = p;
  EXPECT_LT(moved, 0.6f);
  ASSERT_TRUE(rule->BeginStep(2).ok());
  EXPECT_NE(rule->Fingerprint(), before);
  rule->ApplyTile(0, &gradient, &p, states, 1);
  EXPECT_EQ(p, moved);
}

TEST(AdamRuleFingerprintTest, TellsWhatRanksMustAgreeOn) {
  const auto fingerprint = [](std::vector<AdamHyper> groups, int64_t step) {
    auto rule = MakeRule(std::move(groups));
    EXPECT_TRUE(rule->BeginStep(step).ok());
    return rule->Fingerprint();
  };
  const AdamHyper usual;
  EXPECT_EQ(fingerprint({usual}, 3), fingerprint({usual}, 3));
  EXPECT_NE(fingerprint({usual}, 3), fingerprint({usual}, 4));
  EXPECT_NE(fingerprint({usual}, 3), fingerprint({usual, usual}, 3));
  const std::vector<AdamHyper> others = {
      {.learning_rate = 2e-3}, {.beta1 = 0.8},      {.beta2 = 0.9},
      {.epsilon = 1e-7},       {.weight_decay = 0}, {.decoupled = false},
      {.mode = kAccurate},
  };
  for (const AdamHyper& other : others) {
    EXPECT_NE(fingerprint({usual}, 3), fingerprint({other}, 3));
  }
}

TEST(AdamRuleRefusalTest, NamesGroupFieldAndValue) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<std::string, AdamHyper>> refused = {
      {"group 1: learning_rate is -1", {.learning_rate = -1}},
      {"group 1: learning_rate is nan", {.learning_rate = nan}},
      {"group 1: learning_rate is 1e+39", {.learning_rate = 1e39}},
      {"group 1: beta1 is 1", {.beta1 = 1}},
      {"group 1: beta2 is 0.9999999999", {.beta2 = 0.9999999999}},
      {"group 1: epsilon is 0", {.epsilon = 0}},
      {"group 1: epsilon is 1e-60", {.epsilon = 1e-60}},
      {"group 1: weight_decay is -0.5", {.weight_decay = -0.5}},
      {"group 1: amsgrad is true", {.amsgrad = true}},
      {"group 1: mode is 7", {.mode = static_cast<AdamMode>(7)}},
  };
  auto rule = MakeRule({{}, {.beta1 = 0, .beta2 = 0}});
  for (const auto& [message, hyper] : refused) {
    const Status status = rule->SetGroup(1, hyper);
    EXPECT_FALSE(status.ok()) << message;
    EXPECT_EQ(status.message().find(message), 0u) << status.message();
    EXPECT_FALSE(AdamRule::Create({{}, hyper}).ok()) << message;
  }
  EXPECT_EQ(rule->groups()[1].beta1, 0) << "a refused value changes nothing";
}

TEST(AdamRuleRefusalTest, GroupsAndStepsOutOfRange) {
  auto rule = MakeRule({{}, {}});
  EXPECT_EQ(rule->SetGroup(2, {}).message(), "group is 2: 0 to 1 is accepted");
  EXPECT_EQ(rule->SetGroup(-1, {}).code(), Code::kInvalidArgument);
  EXPECT_EQ(rule->BeginStep(0).message(), "step is 0: steps count from 1");
  EXPECT_FALSE(AdamRule::Create({}).ok());
}

}  // namespace
}  // namespace rondo
