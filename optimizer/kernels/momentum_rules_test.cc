// SgdRule and LionRule against their published formulas in double.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/kernels/every_target.h"
#include "gtest/gtest.h"
#include "optimizer/kernels/lion_rule.h"
#include "optimizer/kernels/rule_run.h"
#include "optimizer/kernels/sgd_rule.h"
#include "optimizer/kernels/tile.h"

namespace rondo {
namespace {

constexpr int kSteps = 10;
constexpr size_t kCount = 1603;

template <typename Rule, typename Hyper>
std::unique_ptr<Rule> MakeRule(std::vector<Hyper> groups) {
  auto rule = Rule::Create(std::move(groups));
  EXPECT_TRUE(rule.ok()) << rule.status().ToString();
  return *std::move(rule);
}

RuleRun RunAll(UpdateRule& rule, int group = 0) {
  RuleRun run(rule, group, kCount);
  for (int step = 1; step <= kSteps; ++step) run.Step(step);
  return run;
}

struct Reference {
  std::vector<double> parameter, state;
};

// (step, gradient, parameter, state), of one element.
using ReferenceStep = std::function<void(int, double, double&, double&)>;

Reference RunReference(const ReferenceStep& update) {
  const std::vector<float> initial = InitialParameters(kCount);
  Reference r{{initial.begin(), initial.end()}, std::vector<double>(kCount)};
  for (int step = 1; step <= kSteps; ++step) {
    const std::vector<float> gradient = GradientOfStep(kCount, step);
    for (size_t i = 0; i < kCount; ++i) {
      update(step, gradient[i], r.parameter[i], r.state[i]);
    }
  }
  return r;
}

// What PyTorch documents for torch.optim.SGD.
ReferenceStep SgdReference(const SgdHyper& hyper) {
  return [hyper](int step, double g, double& p, double& buffer) {
    g += hyper.weight_decay * p;
    if (hyper.momentum != 0) {
      buffer =
          step == 1 ? g : hyper.momentum * buffer + (1 - hyper.dampening) * g;
      g = hyper.nesterov ? g + hyper.momentum * buffer : buffer;
    }
    p -= hyper.learning_rate * g;
  };
}

// Algorithm 2 of the paper.
ReferenceStep LionReference(const LionHyper& hyper) {
  return [hyper](int, double g, double& p, double& m) {
    const double mixed = hyper.beta1 * m + (1 - hyper.beta1) * g;
    const double sign = mixed > 0 ? 1 : mixed < 0 ? -1 : 0;
    p -= hyper.learning_rate * (sign + hyper.weight_decay * p);
    m = hyper.beta2 * m + (1 - hyper.beta2) * g;
  };
}

void ExpectSameBitsOnEveryVectorUnit(UpdateRule& rule) {
  const RuleRun want = RunAll(rule);
  ForEveryTarget([&](const std::string& unit) {
    const RuleRun got = RunAll(rule);
    EXPECT_EQ(BitsOf(got.parameter), BitsOf(want.parameter)) << unit;
    RuleRun cut(rule, 0, kTileElements);
    RuleRun whole(rule, 0, kTileElements);
    const std::vector<float> gradient = GradientOfStep(kTileElements, kSteps);
    size_t at = 0;
    for (size_t count = 1; at < kTileElements; at += count, count += 3) {
      count = std::min(count, kTileElements - at);
      cut.Apply(gradient, at, count);
    }
    whole.Apply(gradient, 0, kTileElements);
    EXPECT_EQ(BitsOf(cut.parameter), BitsOf(whole.parameter)) << unit;
    for (size_t s = 0; s < got.states.size(); ++s) {
      EXPECT_EQ(BitsOf(got.states[s]), BitsOf(want.states[s])) << unit;
      EXPECT_EQ(BitsOf(cut.states[s]), BitsOf(whole.states[s])) << unit;
    }
  });
}

class SgdRuleTest : public testing::TestWithParam<SgdHyper> {};

TEST_P(SgdRuleTest, AgreesWithDoubleInEveryElement) {
  const SgdHyper hyper = GetParam();
  auto rule = MakeRule<SgdRule>(std::vector<SgdHyper>{hyper});
  const RuleRun run = RunAll(*rule);
  const Reference want = RunReference(SgdReference(hyper));
  EXPECT_EQ(CountDifferent(run.parameter, want.parameter, kParityTolerance), 0);
  ASSERT_EQ(run.states.size(), hyper.momentum != 0 ? 1u : 0u);
  if (hyper.momentum != 0) {
    EXPECT_EQ(CountDifferent(run.states[0], want.state, kParityTolerance), 0);
  }
}

TEST_P(SgdRuleTest, HasTheSameBitsEverywhere) {
  auto rule = MakeRule<SgdRule>(std::vector<SgdHyper>{GetParam()});
  ExpectSameBitsOnEveryVectorUnit(*rule);
}

// Leaving out any one part shows in most elements.
TEST_P(SgdRuleTest, MissingPartsAreCaught) {
  const SgdHyper hyper = GetParam();
  auto rule = MakeRule<SgdRule>(std::vector<SgdHyper>{hyper});
  const RuleRun run = RunAll(*rule);
  std::vector<SgdHyper> wrong;
  if (hyper.weight_decay != 0) (wrong.emplace_back(hyper)).weight_decay = 0;
  if (hyper.dampening != 0) (wrong.emplace_back(hyper)).dampening = 0;
  if (hyper.nesterov) (wrong.emplace_back(hyper)).nesterov = false;
  (wrong.emplace_back(hyper)).learning_rate *= 1.001;
  for (const SgdHyper& other : wrong) {
    const Reference want = RunReference(SgdReference(other));
    EXPECT_GT(CountDifferent(run.parameter, want.parameter, kParityTolerance),
              int{kCount} / 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Hypers, SgdRuleTest,
                         testing::Values(SgdHyper{.learning_rate = 0.05},
                                         SgdHyper{.learning_rate = 0.05,
                                                  .weight_decay = 0.1},
                                         SgdHyper{.learning_rate = 0.05,
                                                  .momentum = 0.7,
                                                  .dampening = 0.3,
                                                  .weight_decay = 0.1},
                                         SgdHyper{.learning_rate = 0.05,
                                                  .momentum = 0.7,
                                                  .weight_decay = 0.1,
                                                  .nesterov = true}));

TEST(SgdRuleStateTest, TheFirstBufferIsTheGradientWhateverIsDampened) {
  auto rule = MakeRule<SgdRule>(std::vector<SgdHyper>{
      {.learning_rate = 1, .momentum = 0.5, .dampening = 0.5}});
  const float gradient = 4;
  float p = 0, buffer = 0;
  float* states[] = {&buffer};
  ASSERT_TRUE(rule->BeginStep(1).ok());
  rule->ApplyTile(0, &gradient, &p, states, 1);
  EXPECT_EQ(buffer, 4.0f);
  EXPECT_EQ(p, -4.0f);
  ASSERT_TRUE(rule->BeginStep(2).ok());
  rule->ApplyTile(0, &gradient, &p, states, 1);
  EXPECT_EQ(buffer, 4.0f);  // 2 + 2
}

TEST(SgdRuleStateTest, GroupsWithoutMomentumLeaveTheBufferAlone) {
  auto rule = MakeRule<SgdRule>(std::vector<SgdHyper>{
      {.learning_rate = 1}, {.learning_rate = 1, .momentum = 0.5}});
  EXPECT_EQ(rule->state_count(), 1);
  ASSERT_TRUE(rule->BeginStep(1).ok());
  const float gradient = 4;
  float p = 0, buffer = 7;
  float* states[] = {&buffer};
  rule->ApplyTile(0, &gradient, &p, states, 1);
  EXPECT_EQ(p, -4.0f);
  EXPECT_EQ(buffer, 7.0f);
}

TEST(SgdRuleRefusalTest, NamesGroupFieldAndValue) {
  const std::vector<std::pair<std::string, SgdHyper>> refused = {
      {"group 0: learning_rate is -1", {.learning_rate = -1}},
      {"group 0: momentum is 1", {.momentum = 1}},
      {"group 0: dampening is 2", {.dampening = 2}},
      {"group 0: weight_decay is -3", {.weight_decay = -3}},
      {"group 0: nesterov is true with momentum 0", {.nesterov = true}},
      {"group 0: nesterov is true with momentum 0.5 and dampening 0.5",
       {.momentum = 0.5, .dampening = 0.5, .nesterov = true}},
      {"group 0: momentum is 0.5: only 0 is accepted", {.momentum = 0.5}},
  };
  auto rule = MakeRule<SgdRule>(std::vector<SgdHyper>{{}});
  EXPECT_EQ(rule->state_count(), 0);
  for (const auto& [message, hyper] : refused) {
    const Status status = rule->SetGroup(0, hyper);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << message;
    EXPECT_EQ(status.message().find(message), 0u) << status.message();
  }
  EXPECT_FALSE(SgdRule::Create({}).ok());
  EXPECT_FALSE(rule->SetGroup(1, {}).ok());
  EXPECT_FALSE(rule->BeginStep(0).ok());
}

class LionRuleTest : public testing::Test {
 protected:
  static LionHyper Hyper() {
    return {
        .learning_rate = 0.05, .beta1 = 0.6, .beta2 = 0.8, .weight_decay = 0.1};
  }

  LionRuleTest() : rule_(MakeRule<LionRule>(std::vector<LionHyper>{Hyper()})) {}

  std::unique_ptr<LionRule> rule_;
};

TEST_F(LionRuleTest, AgreesWithDoubleInEveryElement) {
  const RuleRun run = RunAll(*rule_);
  const Reference want = RunReference(LionReference(Hyper()));
  EXPECT_EQ(CountDifferent(run.parameter, want.parameter, kParityTolerance), 0);
  EXPECT_EQ(CountDifferent(run.states[0], want.state, kParityTolerance), 0);
}

TEST_F(LionRuleTest, HasTheSameBitsEverywhere) {
  ExpectSameBitsOnEveryVectorUnit(*rule_);
}

TEST_F(LionRuleTest, WrongBetasAndMissingDecayAreCaught) {
  const RuleRun run = RunAll(*rule_);
  LionHyper exchanged = Hyper(), plain = Hyper();
  std::swap(exchanged.beta1, exchanged.beta2);
  plain.weight_decay = 0;
  const Reference other = RunReference(LionReference(exchanged));
  EXPECT_GT(CountDifferent(run.states[0], other.state, kParityTolerance),
            int{kCount} / 2);
  EXPECT_GT(CountDifferent(run.parameter,
                           RunReference(LionReference(plain)).parameter,
                           kParityTolerance),
            int{kCount} / 2);
}

TEST_F(LionRuleTest, TheSignOfZeroIsZeroAndNanShows) {
  const float gradients[] = {0, -0.0f, 3, -3, std::nanf("")};
  float p[] = {0, 0, 0, 0, 0};
  float m[] = {0, 0, 0, 0, 0};
  float* states[] = {m};
  ASSERT_TRUE(rule_->BeginStep(1).ok());
  rule_->ApplyTile(0, gradients, p, states, 5);
  EXPECT_EQ(p[0], 0.0f);
  EXPECT_EQ(p[1], 0.0f);
  EXPECT_EQ(p[2], -0.05f);
  EXPECT_EQ(p[3], 0.05f);
  EXPECT_TRUE(std::isnan(p[4]));
}

TEST_F(LionRuleTest, RefusesBadValuesByName) {
  const std::vector<std::pair<std::string, LionHyper>> refused = {
      {"group 0: learning_rate is -1", {.learning_rate = -1}},
      {"group 0: beta1 is 1", {.beta1 = 1}},
      {"group 0: beta2 is -0.5", {.beta2 = -0.5}},
      {"group 0: weight_decay is -3", {.weight_decay = -3}},
  };
  for (const auto& [message, hyper] : refused) {
    const Status status = rule_->SetGroup(0, hyper);
    EXPECT_EQ(status.message().find(message), 0u) << status.message();
  }
  EXPECT_FALSE(LionRule::Create({}).ok());
  EXPECT_FALSE(rule_->BeginStep(-1).ok());
}

TEST(RuleNamesTest, RanksWithOtherRulesOrHypersAreTold) {
  auto sgd = MakeRule<SgdRule>(std::vector<SgdHyper>{{}});
  auto lion = MakeRule<LionRule>(std::vector<LionHyper>{{}});
  ASSERT_TRUE(sgd->BeginStep(1).ok());
  ASSERT_TRUE(lion->BeginStep(1).ok());
  EXPECT_NE(sgd->Fingerprint(), lion->Fingerprint());
  const uint64_t before = lion->Fingerprint();
  ASSERT_TRUE(lion->SetGroup(0, {.beta2 = 0.5}).ok());
  ASSERT_TRUE(lion->BeginStep(1).ok());
  EXPECT_NE(lion->Fingerprint(), before);
}

}  // namespace
}  // namespace rondo
