#include "optimizer/kernels/exact_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"

namespace rondo {
namespace {

static_assert(std::is_trivially_copyable_v<ExactSum>);
static_assert(sizeof(ExactSum) < 640);

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

double Sum(const std::vector<double>& numbers) {
  ExactSum sum;
  for (double x : numbers) sum.Add(x);
  return sum.Result();
}

// Of either sign, and of exponents far and near.
std::vector<double> SomeNumbers(int count, std::mt19937_64* random) {
  std::vector<double> numbers;
  for (int i = 0; i < count; ++i) {
    const auto mantissa =
        static_cast<double>(static_cast<int64_t>((*random)()));
    const int exponent = static_cast<int>((*random)() % 200) - 160;
    numbers.push_back(std::ldexp(mantissa, exponent));
  }
  return numbers;
}

TEST(ExactSumTest, EveryOrderAndGroupingGivesTheSameBits) {
  std::mt19937_64 random(1);
  bool plain_sums_differ = false;
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<double> numbers = SomeNumbers(40, &random);
    const double want = Sum(numbers);
    double plain = 0;
    for (double x : numbers) plain += x;
    std::shuffle(numbers.begin(), numbers.end(), random);
    EXPECT_EQ(Sum(numbers), want);
    double other_plain = 0;
    for (double x : numbers) other_plain += x;
    plain_sums_differ |= plain != other_plain;
    ExactSum groups[3];
    for (double x : numbers) groups[random() % 3].Add(x);
    groups[2].Merge(groups[0]);
    groups[2].Merge(groups[1]);
    EXPECT_EQ(groups[2].Result(), want);
  }
  EXPECT_TRUE(plain_sums_differ);  // the control
}

// fma rounds the exact x * y + z once, and x * y is the sum of two doubles.
TEST(ExactSumTest, RoundsOnceAsFusedMultiplyAddDoes) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 20'000; ++trial) {
    const std::vector<double> n = SomeNumbers(3, &random);
    const double product = n[0] * n[1];
    const double error = std::fma(n[0], n[1], -product);
    EXPECT_EQ(Sum({product, error, n[2]}), std::fma(n[0], n[1], n[2]));
  }
}

TEST(ExactSumTest, KeepsWhatPlainSumsLose) {
  EXPECT_EQ(Sum({1e300, 1, -1e300}), 1);
  EXPECT_EQ(Sum({kLargest, kSmallest, -kLargest}), kSmallest);
  EXPECT_EQ(Sum({1, 0x1p-53}), 1);                       // a tie, to even
  EXPECT_EQ(Sum({1, 0x1p-53, kSmallest}), 1 + 0x1p-52);  // above the tie
  EXPECT_EQ(Sum({kLargest, kLargest, -kLargest}), kLargest);
  EXPECT_EQ(Sum({-kSmallest, -kSmallest}), -2 * kSmallest);
  EXPECT_EQ(Sum({}), 0);
}

TEST(ExactSumTest, OverflowAndSpecialNumbersShow) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Sum({kLargest, kLargest}), infinity);
  EXPECT_EQ(Sum({1, infinity}), infinity);
  EXPECT_EQ(Sum({1, -infinity}), -infinity);
  EXPECT_TRUE(std::isnan(Sum({infinity, -infinity})));
  EXPECT_TRUE(std::isnan(Sum({std::nan(""), 1})));
  ExactSum with, without;
  with.Add(infinity);
  without.Add(2);
  without.Merge(with);
  EXPECT_EQ(without.Result(), infinity);
}

}  // namespace
}  // namespace rondo
