// What ReduceElements promises about numbers, by examples worked out by hand.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "collectives/kernels/data_type.h"
#include "collectives/kernels/every_target.h"
#include "collectives/kernels/half.h"
#include "collectives/kernels/reduce.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr uint32_t kQuietNanBits = 0x7fc00000u;

// Reduces one value per source. It is repeated, so that vector body and ragged
// end both compute it, and all results must be the same.
template <typename T>
T ReduceValues(DataType type, Reduction reduction, const std::vector<T>& values,
               int divisor = 1) {
  constexpr size_t kCount = 333;
  std::vector<std::vector<T>> sources;
  std::vector<const void*> pointers;
  for (T value : values) sources.emplace_back(kCount, value);
  for (const auto& source : sources) pointers.push_back(source.data());
  std::vector<T> result(kCount);
  ReduceElements(type, reduction, pointers.data(),
                 static_cast<int>(values.size()), result.data(), kCount,
                 ReduceScale{.divisor = divisor});
  for (size_t i = 1; i < kCount; ++i) {
    EXPECT_EQ(std::memcmp(&result[0], &result[i], sizeof(T)), 0) << i;
  }
  return result[0];
}

uint32_t FloatBits(Reduction reduction, const std::vector<float>& values) {
  return std::bit_cast<uint32_t>(
      ReduceValues(DataType::kFloat32, reduction, values));
}

TEST(ReduceNumericsTest, SumsInTheOrderGiven) {
  ForEveryTarget([](const std::string& target) {
    SCOPED_TRACE(target);
    const auto sum = [](const std::vector<float>& values) {
      return ReduceValues(DataType::kFloat32, Reduction::kSum, values);
    };
    EXPECT_EQ(sum({1e8f, -1e8f, 1.0f}), 1.0f);
    // The control: in another order the same numbers give another sum.
    EXPECT_EQ(sum({1.0f, 1e8f, -1e8f}), 0.0f);
  });
}

TEST(ReduceNumericsTest, LowPrecisionIsRoundedOnceAtTheEnd) {
  ForEveryTarget([](const std::string& target) {
    SCOPED_TRACE(target);
    // 256 + 1 is not a bfloat16, nor 2048 + 1 a half: rounding at each of the
    // four additions would lose every 1.
    const Bfloat16 one(1.0f);
    EXPECT_EQ(static_cast<float>(ReduceValues<Bfloat16>(
                  DataType::kBfloat16, Reduction::kSum,
                  {Bfloat16(256.0f), one, one, one, one})),
              260.0f);
    const Half half_one(1.0f);
    EXPECT_EQ(static_cast<float>(ReduceValues<Half>(
                  DataType::kFloat16, Reduction::kSum,
                  {Half(2048.0f), half_one, half_one, half_one, half_one})),
              2052.0f);
  });
}

TEST(ReduceNumericsTest, LowPrecisionTiesGoToEven) {
  ForEveryTarget([](const std::string& target) {
    SCOPED_TRACE(target);
    const auto sum = [](float a, float b) {
      return static_cast<float>(ReduceValues<Bfloat16>(
          DataType::kBfloat16, Reduction::kSum, {Bfloat16(a), Bfloat16(b)}));
    };
    EXPECT_EQ(sum(256.0f, 1.0f), 256.0f);
    EXPECT_EQ(sum(258.0f, 1.0f), 260.0f);
  });
}

TEST(ReduceNumericsTest, LowPrecisionOverflowsOnlyIfTheResultDoes) {
  ForEveryTarget([](const std::string& target) {
    SCOPED_TRACE(target);
    const Half large(60000.0f);
    EXPECT_EQ(
        ReduceValues<Half>(DataType::kFloat16, Reduction::kSum, {large, large})
            .bits(),
        0x7c00);
    EXPECT_EQ(ReduceValues<Half>(DataType::kFloat16, Reduction::kAverage,
                                 {large, large}, 2)
                  .bits(),
              large.bits());
  });
}

TEST(ReduceNumericsTest, IntegersWrapAround) {
  ForEveryTarget([](const std::string& target) {
    SCOPED_TRACE(target);
    constexpr int32_t kMax32 = std::numeric_limits<int32_t>::max();
    constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();
    constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
    EXPECT_EQ(ReduceValues<int8_t>(DataType::kInt8, Reduction::kSum, {127, 1}),
              -128);
    EXPECT_EQ(
        ReduceValues<int8_t>(DataType::kInt8, Reduction::kProd, {-128, -1}),
        -128);
    EXPECT_EQ(
        ReduceValues<uint8_t>(DataType::kUint8, Reduction::kProd, {255, 255}),
        1);
    EXPECT_EQ(
        ReduceValues<int32_t>(DataType::kInt32, Reduction::kSum, {kMax32, 1}),
        std::numeric_limits<int32_t>::min());
    EXPECT_EQ(
        ReduceValues<int64_t>(DataType::kInt64, Reduction::kSum, {kMax64, 1}),
        kMin64);
    EXPECT_EQ(
        ReduceValues<int64_t>(DataType::kInt64, Reduction::kProd, {kMin64, -1}),
        kMin64);
    EXPECT_EQ(ReduceValues<uint64_t>(DataType::kUint64, Reduction::kProd,
                                     {0x100000001u, 0x100000003u}),
              0x400000003u);
  });
}

TEST(ReduceNumericsTest, IntegerAverageDividesTheWrappedSumTowardsZero) {
  ForEveryTarget([](const std::string& target) {
    SCOPED_TRACE(target);
    const auto average8 = [](const std::vector<int8_t>& values, int divisor) {
      return ReduceValues<int8_t>(DataType::kInt8, Reduction::kAverage, values,
                                  divisor);
    };
    EXPECT_EQ(average8({-3, -4}, 2), -3);
    EXPECT_EQ(average8({3, 4}, 2), 3);
    EXPECT_EQ(average8({100, 100}, 2), -28);
    EXPECT_EQ(average8({100}, 1000), 0);
    EXPECT_EQ(ReduceValues<uint64_t>(DataType::kUint64, Reduction::kAverage,
                                     {~uint64_t{0}, 0}, 2),
              ~uint64_t{0} / 2);
  });
}

TEST(ReduceNumericsTest, FloatAverageIsTheCorrectlyRoundedQuotient) {
  ForEveryTarget([](const std::string& target) {
    SCOPED_TRACE(target);
    EXPECT_EQ(ReduceValues<float>(DataType::kFloat32, Reduction::kAverage,
                                  {1.0f, 3.0f, 1.0f}, 3),
              5.0f / 3.0f);
    EXPECT_EQ(ReduceValues<double>(DataType::kFloat64, Reduction::kAverage,
                                   {1.0, 3.0, 1.0}, 3),
              5.0 / 3.0);
    EXPECT_EQ(ReduceValues<Half>(DataType::kFloat16, Reduction::kAverage,
                                 {Half(1.0f), Half(3.0f), Half(1.0f)}, 3)
                  .bits(),
              Half(5.0f / 3.0f).bits());
  });
}

TEST(ReduceNumericsTest, OnlyTheDivisorDivides) {
  // An average in several steps adds first and divides at the last.
  EXPECT_EQ(ReduceValues<float>(DataType::kFloat32, Reduction::kAverage,
                                {4.0f, 2.0f}),
            6.0f);
  EXPECT_EQ(ReduceValues<float>(DataType::kFloat32, Reduction::kSum, {4, 2}, 2),
            3.0f);
}

TEST(ReduceNumericsTest, ANanInAnySourceMakesTheResultTheOneQuietNan) {
  const float payload = std::bit_cast<float>(0xffc12345u);
  const float signalling = std::bit_cast<float>(0x7f812345u);
  ForEveryTarget([&](const std::string& target) {
    SCOPED_TRACE(target);
    for (Reduction reduction : AllReductions()) {
      for (float nan : {kNan, -kNan, payload, signalling}) {
        EXPECT_EQ(FloatBits(reduction, {nan, 1, 2}), kQuietNanBits);
        EXPECT_EQ(FloatBits(reduction, {1, nan, kInfinity}), kQuietNanBits);
        EXPECT_EQ(FloatBits(reduction, {1, -kInfinity, nan}), kQuietNanBits);
        EXPECT_EQ(FloatBits(reduction, {payload, nan}), kQuietNanBits);
        EXPECT_EQ(FloatBits(reduction, {nan}), kQuietNanBits);
      }
    }
    EXPECT_EQ(FloatBits(Reduction::kSum, {kInfinity, -kInfinity}),
              kQuietNanBits);
    EXPECT_EQ(ReduceValues<Half>(DataType::kFloat16, Reduction::kMax,
                                 {Half(1.0f), Half::FromBits(0xfd55)})
                  .bits(),
              0x7e00);
    EXPECT_EQ(ReduceValues<Bfloat16>(DataType::kBfloat16, Reduction::kMin,
                                     {Bfloat16::FromBits(0xff81), Bfloat16(1)})
                  .bits(),
              0x7fc0);
    EXPECT_EQ(std::bit_cast<uint64_t>(ReduceValues<double>(
                  DataType::kFloat64, Reduction::kMax, {-double{kNan}, 1})),
              0x7ff8000000000000u);
  });
}

TEST(ReduceNumericsTest, InfinitiesAreOrdinaryExtremes) {
  ForEveryTarget([](const std::string& target) {
    SCOPED_TRACE(target);
    const std::vector<float> values = {1.0f, -kInfinity, kInfinity, 3.0f};
    const auto reduce = [&](Reduction reduction) {
      return ReduceValues(DataType::kFloat32, reduction, values);
    };
    EXPECT_EQ(reduce(Reduction::kMax), kInfinity);
    EXPECT_EQ(reduce(Reduction::kMin), -kInfinity);
    EXPECT_EQ(reduce(Reduction::kProd), -kInfinity);
  });
}

TEST(ReduceNumericsTest, NegativeZeroIsLessThanPositiveZero) {
  ForEveryTarget([](const std::string& target) {
    SCOPED_TRACE(target);
    for (const auto& zeros :
         {std::vector<float>{0.0f, -0.0f}, std::vector<float>{-0.0f, 0.0f}}) {
      EXPECT_EQ(FloatBits(Reduction::kMax, zeros), 0u);
      EXPECT_EQ(FloatBits(Reduction::kMin, zeros), 0x80000000u);
    }
    EXPECT_EQ(FloatBits(Reduction::kMax, {-0.0f, -0.0f}), 0x80000000u);
    EXPECT_EQ(FloatBits(Reduction::kSum, {-0.0f, -0.0f}), 0x80000000u);
  });
}

TEST(ReduceNumericsTest, SubnormalsAreKept) {
  ForEveryTarget([](const std::string& target) {
    SCOPED_TRACE(target);
    const float tiny = std::numeric_limits<float>::denorm_min();
    EXPECT_EQ(FloatBits(Reduction::kSum, {tiny, tiny}), 2u);
    EXPECT_EQ(ReduceValues<Half>(DataType::kFloat16, Reduction::kSum,
                                 {Half::FromBits(1), Half::FromBits(2)})
                  .bits(),
              3);
  });
}

// Within the bound of recursive summation: (n - 1) roundings of at most half an
// ulp of a partial sum, which is at most the sum of magnitudes.
TEST(ReduceNumericsTest, FloatSumsStayWithinTheBoundAroundTheExactSum) {
  std::vector<float> values;
  double exact = 0;
  double magnitudes = 0;
  for (int i = 0; i < 100; ++i) {
    const float value = std::sin(static_cast<float>(i) * 12.9898f) * 100.0f;
    values.push_back(value);
    exact += value;
    magnitudes += std::fabs(value);
  }
  const float sum = ReduceValues(DataType::kFloat32, Reduction::kSum, values);
  EXPECT_LE(std::fabs(sum - exact), 99 * 0x1p-24 * magnitudes);
  EXPECT_NE(sum, 0.0f);
}

TEST(ReduceNumericsTest, NoSourcesLeaveTheDestinationAlone) {
  float value = 7;
  ReduceElements(DataType::kFloat32, Reduction::kSum, nullptr, 0, &value, 1);
  EXPECT_EQ(value, 7.0f);
}

}  // namespace
}  // namespace rondo
