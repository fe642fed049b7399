#include "perf/step/step_check.h"

#include <cmath>
#include <limits>
#include <vector>

#include "collectives/kernels/convert.h"
#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

constexpr size_t kCount = 20000;  // more than one piece

// What the step should give, in plain float arithmetic on the exact average.
std::vector<float> StepByHand(const StepCheck& check) {
  std::vector<float> p(check.count), m(check.count), v(check.count);
  for (size_t i = 0; i < check.count; ++i) p[i] = TestInitial(check.seed, i);
  for (int64_t step = 1; step <= check.steps; ++step) {
    const AdamWConstants constants = MakeAdamWConstants(check.hyper, step);
    for (size_t i = 0; i < check.count; ++i) {
      float sum = 0;
      for (int rank = 0; rank < check.ranks; ++rank) {
        sum += static_cast<float>(TestGradient(check.seed, step, rank, i));
      }
      AdamWElement(constants, sum / static_cast<float>(check.ranks), &p[i],
                   &m[i], &v[i]);
    }
  }
  return p;
}

StepCheck SomeCheck() {
  StepCheck check;
  check.seed = 3;
  check.steps = 3;
  check.ranks = 3;
  check.count = kCount;
  check.hyper = {.learning_rate = 0.01, .epsilon = 0.1, .weight_decay = 0.1};
  return check;
}

TEST(StepCheckTest, AcceptsWhatPlainFloatArithmeticGives) {
  const StepCheck check = SomeCheck();
  EXPECT_EQ(CountOutside(check, StepByHand(check).data()), 0);
}

TEST(StepCheckTest, AcceptsOneRoundingToTheParametersType) {
  StepCheck check = SomeCheck();
  const std::vector<float> exact = StepByHand(check);
  for (DataType type : {DataType::kBfloat16, DataType::kFloat16}) {
    std::vector<char> narrow(kCount * 2);
    ASSERT_TRUE(ConvertElements(DataType::kFloat32, exact.data(), type,
                                narrow.data(), kCount)
                    .ok());
    check.parameter_type = type;
    EXPECT_EQ(CountOutside(check, narrow.data()), 0);
    narrow[2 * 777 + 1] ^= 1;  // high byte: far more than a rounding
    EXPECT_EQ(CountOutside(check, narrow.data()), 1);
  }
}

TEST(StepCheckTest, CountsEveryParameterThatIsOff) {
  const StepCheck check = SomeCheck();
  std::vector<float> p = StepByHand(check);
  p[5] += 1e-4f;
  p[19999] = std::numeric_limits<float>::quiet_NaN();
  std::swap(p[100], p[101]);
  EXPECT_EQ(CountOutside(check, p.data()), 4);
}

TEST(StepCheckTest, AStepMoreOrLessIsWrongAlmostEverywhere) {
  const StepCheck check = SomeCheck();
  StepCheck other = check;
  other.steps = 2;
  EXPECT_GT(CountOutside(other, StepByHand(check).data()),
            static_cast<int64_t>(kCount) * 9 / 10);
}

TEST(StepCheckTest, AMissingRankIsWrongAlmostEverywhere) {
  const StepCheck check = SomeCheck();
  StepCheck other = check;
  other.ranks = 2;
  EXPECT_GT(CountOutside(check, StepByHand(other).data()),
            static_cast<int64_t>(kCount) * 9 / 10);
}

TEST(StepCheckTest, GradientsAreExactInEveryType) {
  for (DataType type :
       {DataType::kFloat32, DataType::kBfloat16, DataType::kFloat16}) {
    std::vector<char> bytes(kCount * ElementSize(type));
    FillGradients(type, 9, 2, 1, bytes.data(), kCount);
    std::vector<double> values(kCount);
    ASSERT_TRUE(ConvertElements(type, bytes.data(), DataType::kFloat64,
                                values.data(), kCount)
                    .ok());
    for (size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(values[i], TestGradient(9, 2, 1, i));
      ASSERT_LE(std::abs(values[i]), 1);
    }
  }
}

}  // namespace
}  // namespace rondo::perf
