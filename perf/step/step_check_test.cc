#include "perf/step/step_check.h"

#include <cmath>
#include <limits>
#include <vector>

#include "collectives/kernels/convert.h"
#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

constexpr size_t kCount = 20000;  // more than one piece
constexpr size_t kFirst = 3072;

AdamHyper SomeHyper() {
  return {.learning_rate = 0.01, .epsilon = 0.1, .weight_decay = 0.1};
}

StepCheck SomeCheck() {
  StepCheck check;
  check.seed = 3;
  check.ranks = 3;
  check.coefficients = {1, 0.25, 0.5};
  return check;
}

// What the steps should give, in plain double arithmetic rounded at the end.
std::vector<float> StepByHand(const StepCheck& check, const AdamHyper& hyper) {
  std::vector<float> p(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    double parameter = TestInitial(check.seed, kFirst + i);
    double m = 0, v = 0;
    for (size_t t = 1; t <= check.coefficients.size(); ++t) {
      const double steps = static_cast<double>(t);
      double g = 0;
      for (int rank = 0; rank < check.ranks; ++rank) {
        g += TestGradient(check.seed, rank, kFirst + i + (t - 1) * kStepShift) /
             check.ranks;
      }
      g *= check.coefficients[t - 1];
      parameter *= 1 - hyper.learning_rate * hyper.weight_decay;
      m = hyper.beta1 * m + (1 - hyper.beta1) * g;
      v = hyper.beta2 * v + (1 - hyper.beta2) * g * g;
      const double m_hat = m / (1 - std::pow(hyper.beta1, steps));
      const double v_hat = v / (1 - std::pow(hyper.beta2, steps));
      parameter -=
          hyper.learning_rate * m_hat / (std::sqrt(v_hat) + hyper.epsilon);
    }
    p[i] = static_cast<float>(parameter);
  }
  return p;
}

int64_t Outside(const StepCheck& check, const void* parameters) {
  return CountOutside(check, SomeHyper(), kFirst, kCount, parameters);
}

TEST(StepCheckTest, AcceptsWhatExactArithmeticGives) {
  const StepCheck check = SomeCheck();
  EXPECT_EQ(Outside(check, StepByHand(check, SomeHyper()).data()), 0);
}

TEST(StepCheckTest, AcceptsOneRoundingToTheParametersType) {
  StepCheck check = SomeCheck();
  const std::vector<float> exact = StepByHand(check, SomeHyper());
  for (DataType type : {DataType::kBfloat16, DataType::kFloat16}) {
    std::vector<char> narrow(kCount * 2);
    ASSERT_TRUE(ConvertElements(DataType::kFloat32, exact.data(), type,
                                narrow.data(), kCount)
                    .ok());
    check.parameter_type = type;
    EXPECT_EQ(Outside(check, narrow.data()), 0);
    narrow[2 * 777 + 1] ^= 1;  // high byte: far more than a rounding
    EXPECT_EQ(Outside(check, narrow.data()), 1);
  }
}

TEST(StepCheckTest, CountsEveryParameterThatIsOff) {
  const StepCheck check = SomeCheck();
  std::vector<float> p = StepByHand(check, SomeHyper());
  p[5] += 1e-4f;
  p[19999] = std::numeric_limits<float>::quiet_NaN();
  std::swap(p[100], p[101]);
  EXPECT_EQ(Outside(check, p.data()), 4);
}

// What a wrong optimizer gives is outside almost everywhere.
class WrongStepTest : public testing::TestWithParam<int> {};

TEST_P(WrongStepTest, IsWrongAlmostEverywhere) {
  const StepCheck check = SomeCheck();
  StepCheck other = check;
  AdamHyper hyper = SomeHyper();
  switch (GetParam()) {
    case 0:  // a step less
      other.coefficients.pop_back();
      break;
    case 1:  // a rank missing
      other.ranks = 2;
      break;
    case 2:  // not clipped
      other.coefficients = {1, 1, 1};
      break;
    default:  // the other group's decay
      hyper.weight_decay = 0;
  }
  EXPECT_GT(Outside(check, StepByHand(other, hyper).data()),
            static_cast<int64_t>(kCount) * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Mistakes, WrongStepTest, testing::Range(0, 4));

TEST(StepCheckTest, NormIsOfTheMean) {
  StepCheck check = SomeCheck();
  double squares = 0;
  for (size_t i = 0; i < 10; ++i) {
    double mean = 0;
    for (int rank = 0; rank < 3; ++rank) {
      mean += TestGradient(3, rank, 7 + i + kStepShift) / 3;
    }
    squares += mean * mean;
  }
  EXPECT_NEAR(SquaredNorm(check, 2, 7, 10), squares, 1e-12);
  EXPECT_GT(std::abs(SquaredNorm(check, 1, 7, 10) - squares), 1e-6);
}

TEST(StepCheckTest, GradientsAreExactInEveryType) {
  for (DataType type :
       {DataType::kFloat32, DataType::kBfloat16, DataType::kFloat16}) {
    std::vector<char> bytes(kCount * ElementSize(type));
    FillGradients(type, 9, 1, bytes.data(), kCount);
    std::vector<double> values(kCount);
    ASSERT_TRUE(ConvertElements(type, bytes.data(), DataType::kFloat64,
                                values.data(), kCount)
                    .ok());
    for (size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(values[i], TestGradient(9, 1, i));
      ASSERT_LE(std::abs(values[i]), 1);
    }
  }
}

}  // namespace
}  // namespace rondo::perf
