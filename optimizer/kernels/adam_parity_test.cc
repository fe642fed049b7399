// AdamRule against PyTorch's own results, element by element.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "optimizer/kernels/adam_rule.h"
#include "optimizer/kernels/rule_run.h"
#include "optimizer/kernels/tile.h"
#include "tests/pytorch/adam_vectors.h"

namespace rondo {
namespace {

// The tolerance of torch.testing for fp32, with a tenth of its absolute part.
constexpr Tolerance kTorchTolerance = {1.3e-6, 1e-6};

const std::vector<AdamVector>& Vectors() {
  static const auto* const vectors = [] {
    auto read = ReadAdamVectors("tests/pytorch/adam_vectors.txt");
    EXPECT_TRUE(read.ok()) << read.status().ToString();
    return new std::vector<AdamVector>(read.ok() ? *std::move(read)
                                                 : std::vector<AdamVector>());
  }();
  return *vectors;
}

AdamHyper HyperOf(const AdamVector& vector, AdamMode mode) {
  return {.learning_rate = vector.learning_rate,
          .beta1 = kAdamVectorBeta1,
          .beta2 = kAdamVectorBeta2,
          .epsilon = kAdamVectorEpsilon,
          .weight_decay = vector.weight_decay,
          .decoupled = vector.decoupled,
          .mode = mode};
}

struct Defect {
  bool swap = false;                // two elements of the gradient
  bool no_bias_correction = false;  // the constants of a late step
};

// Elements that differ from PyTorch in any recorded array.
int CountDifferent(const AdamVector& vector, const AdamHyper& hyper,
                   Defect defect = {}) {
  auto rule = AdamRule::Create({hyper});
  EXPECT_TRUE(rule.ok());
  std::vector<float> p = vector.InitialValues();
  std::vector<float> m(vector.count), v(vector.count);
  int different = 0;
  for (int step = 1; step <= kAdamVectorSteps; ++step) {
    // After many steps both corrections are 1.
    const int64_t number = defect.no_bias_correction ? 1'000'000 : step;
    EXPECT_TRUE((*rule)->BeginStep(number).ok());
    std::vector<float> gradient = vector.Gradient(step);
    if (defect.swap) std::swap(gradient.front(), gradient.back());
    for (size_t at = 0; at < vector.count; at += kTileElements) {
      float* states[] = {m.data() + at, v.data() + at};
      (*rule)->ApplyTile(0, gradient.data() + at, p.data() + at, states,
                         std::min(kTileElements, vector.count - at));
    }
    const std::pair<char, const std::vector<float>*> arrays[] = {
        {'p', &p}, {'m', &m}, {'v', &v}};
    for (const auto& [name, values] : arrays) {
      const auto want = vector.after.find({step, name});
      if (want == vector.after.end()) continue;
      different += CountDifferent(*values, want->second, kTorchTolerance);
    }
  }
  return different;
}

TEST(AdamParityTest, TheFileHasBothOptimizersGroupsAndOddSizes) {
  std::set<std::pair<bool, int>> kinds;
  std::set<size_t> counts;
  for (const AdamVector& vector : Vectors()) {
    kinds.insert({vector.decoupled, vector.group});
    counts.insert(vector.count);
    EXPECT_TRUE(vector.after.count({kAdamVectorSteps, 'p'}));
    EXPECT_TRUE(vector.after.count({kAdamVectorSteps, 'v'}));
  }
  EXPECT_EQ(kinds.size(), 4u);
  EXPECT_EQ(counts, (std::set<size_t>{1, 7, 64, 333, 1025}));
}

TEST(AdamParityTest, BothModesMeetPyTorchInEveryElement) {
  for (const AdamVector& vector : Vectors()) {
    for (AdamMode mode : {AdamMode::kTorchCompat, AdamMode::kAccurate}) {
      EXPECT_EQ(CountDifferent(vector, HyperOf(vector, mode)), 0)
          << vector.count << " elements, " << AdamModeName(mode)
          << (vector.decoupled ? ", AdamW" : ", Adam");
    }
  }
}

class AdamParityControlTest : public testing::Test {
 protected:
  static const AdamVector& LargestOfGroup(int group) {
    const AdamVector* largest = nullptr;
    for (const AdamVector& vector : Vectors()) {
      if (vector.group != group || !vector.decoupled) continue;
      if (largest == nullptr || vector.count > largest->count) {
        largest = &vector;
      }
    }
    return *largest;
  }
};

TEST_F(AdamParityControlTest, SwappedElementsAreCaught) {
  const AdamVector& vector = LargestOfGroup(0);
  const AdamHyper hyper = HyperOf(vector, AdamMode::kTorchCompat);
  // Two elements of p, m and v, after steps 1, 2 (only p) and 10.
  EXPECT_EQ(CountDifferent(vector, hyper, {.swap = true}), 2 * 7);
}

TEST_F(AdamParityControlTest, TheOtherGroupsDecayIsCaught) {
  for (int group : {0, 1}) {
    const AdamVector& vector = LargestOfGroup(group);
    AdamHyper hyper = HyperOf(vector, AdamMode::kTorchCompat);
    hyper.weight_decay = LargestOfGroup(1 - group).weight_decay;
    EXPECT_GT(CountDifferent(vector, hyper),
              static_cast<int>(vector.count) * 2);
  }
}

TEST_F(AdamParityControlTest, MissingBiasCorrectionIsCaught) {
  const AdamVector& vector = LargestOfGroup(0);
  const AdamHyper hyper = HyperOf(vector, AdamMode::kTorchCompat);
  EXPECT_GT(CountDifferent(vector, hyper, {.no_bias_correction = true}),
            static_cast<int>(vector.count) / 2);
}

TEST_F(AdamParityControlTest, AdamIsNotAdamW) {
  const AdamVector& vector = LargestOfGroup(0);
  AdamHyper hyper = HyperOf(vector, AdamMode::kTorchCompat);
  hyper.decoupled = false;
  EXPECT_GT(CountDifferent(vector, hyper), static_cast<int>(vector.count));
}

}  // namespace
}  // namespace rondo
