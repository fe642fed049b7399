// RuleRun: one array of elements taken through steps of an UpdateRule, and the
// comparison with a reference in double.
//
// Gradients are random, of every step the same for all who ask, so that a
// reference written from the published formulas can be run beside it. The
// comparison is elementwise: a norm would not see two elements swapped.
//
// Thread-safety: none. Ownership: owns its arrays; the rule is the caller's.
// Failure: a BeginStep() that fails is a test failure.
//
// Example:
//   RuleRun run(rule, /*group=*/0, kCount);
//   for (int64_t step = 1; step <= 10; ++step) run.Step(step);
//   EXPECT_EQ(CountDifferent(run.parameter, reference, kParityTolerance), 0);
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "optimizer/kernels/tile.h"
#include "optimizer/kernels/update_rule.h"

namespace rondo {

inline std::vector<float> RandomFloats(size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

inline std::vector<float> InitialParameters(size_t count) {
  return RandomFloats(count, 1);
}

inline std::vector<float> GradientOfStep(size_t count, int64_t step) {
  return RandomFloats(count, 100 + static_cast<uint32_t>(step));
}

struct RuleRun {
  RuleRun(UpdateRule& its_rule, int its_group, size_t count)
      : rule(its_rule),
        group(its_group),
        parameter(InitialParameters(count)),
        states(static_cast<size_t>(rule.state_count()),
               std::vector<float>(count)) {}

  void Step(int64_t step) {
    ASSERT_TRUE(rule.BeginStep(step).ok());
    const std::vector<float> gradient = GradientOfStep(parameter.size(), step);
    for (size_t at = 0; at < parameter.size(); at += kTileElements) {
      Apply(gradient, at, std::min(kTileElements, parameter.size() - at));
    }
  }

  void Apply(const std::vector<float>& gradient, size_t at, size_t count) {
    float* tile_states[kMaxRuleStates] = {};
    for (size_t s = 0; s < states.size(); ++s) {
      tile_states[s] = states[s].data() + at;
    }
    rule.ApplyTile(group, gradient.data() + at, parameter.data() + at,
                   tile_states, count);
  }

  UpdateRule& rule;
  int group;
  std::vector<float> parameter;
  std::vector<std::vector<float>> states;
};

struct Tolerance {
  double relative;
  double absolute;
};

// As Apex and torch.testing compare fp32; values here are of the order of 1.
inline constexpr Tolerance kParityTolerance = {1.3e-6, 1e-6};

template <typename T>
int CountDifferent(const std::vector<float>& got, const std::vector<T>& want,
                   Tolerance tolerance) {
  int different = got.size() == want.size() ? 0 : 1;
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    const double distance = std::abs(got[i] - static_cast<double>(want[i]));
    const double bound =
        tolerance.absolute +
        tolerance.relative * std::abs(static_cast<double>(want[i]));
    if (!(distance <= bound)) ++different;
  }
  return different;
}

// The bits, so that NaN equals NaN and 0 is not -0.
inline std::vector<uint32_t> BitsOf(const std::vector<float>& values) {
  std::vector<uint32_t> bits(values.size());
  if (!values.empty()) {
    std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  }
  return bits;
}

}  // namespace rondo
