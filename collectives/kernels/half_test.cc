#include "collectives/kernels/half.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace rondo {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// What the format says: `fraction_bits` and `exponent_bits` decoded by ldexp.
double Decode(uint16_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0 ? sign * kInfinity : std::nan("");
  }
  if (exponent == 0)
    return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits),
                           exponent - bias - fraction_bits);
}

// Checks every bit pattern and, between each two neighbours of one sign, the
// midpoint and the floats next to it on both sides.
template <typename T>
void ExpectExactRounding(int exponent_bits, int fraction_bits) {
  const uint16_t infinity =
      static_cast<uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
  for (uint32_t magnitude = 0; magnitude < infinity; ++magnitude) {
    for (uint32_t sign : {0u, 0x8000u}) {
      const uint16_t low = static_cast<uint16_t>(sign | magnitude);
      const uint16_t high = static_cast<uint16_t>(sign | (magnitude + 1));
      const double low_value = Decode(low, exponent_bits, fraction_bits);
      // Past the largest finite value the next step would be one more ulp.
      const double below =
          Decode(static_cast<uint16_t>(low - 1), exponent_bits, fraction_bits);
      const double high_value =
          magnitude + 1 == infinity
              ? 2 * low_value - below
              : Decode(high, exponent_bits, fraction_bits);
      ASSERT_EQ(static_cast<float>(T::FromBits(low)), low_value);
      ASSERT_EQ(T(static_cast<float>(low_value)).bits(), low);
      const float middle = static_cast<float>((low_value + high_value) / 2);
      const float outwards = sign ? -kInfinity : kInfinity;
      ASSERT_EQ(T(middle).bits(), low & 1 ? high : low) << middle;
      ASSERT_EQ(T(std::nextafter(middle, 0.0f)).bits(), low) << middle;
      ASSERT_EQ(T(std::nextafter(middle, outwards)).bits(), high) << middle;
    }
  }
}

TEST(HalfTest, EveryValueAndEveryTieRoundsToNearestEven) {
  ExpectExactRounding<Half>(5, 10);
}

TEST(Bfloat16Test, EveryValueAndEveryTieRoundsToNearestEven) {
  ExpectExactRounding<Bfloat16>(8, 7);
}

TEST(HalfTest, WhatIsTooLargeBecomesInfinity) {
  EXPECT_EQ(Half(65504.0f).bits(), 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits(), 0x7c00);
  EXPECT_EQ(Half(-std::numeric_limits<float>::max()).bits(), 0xfc00);
  EXPECT_EQ(Half(kInfinity).bits(), 0x7c00);
  EXPECT_EQ(static_cast<float>(Half::FromBits(0xfc00)), -kInfinity);
}

TEST(HalfTest, WhatIsTooSmallBecomesASignedZero) {
  EXPECT_EQ(Half(std::numeric_limits<float>::denorm_min()).bits(), 0x0000);
  EXPECT_EQ(Half(-1e-30f).bits(), 0x8000);
  EXPECT_TRUE(std::signbit(static_cast<float>(Half(-0.0f))));
}

TEST(Bfloat16Test, InfinitiesAndZerosKeepTheirSign) {
  EXPECT_EQ(Bfloat16(std::numeric_limits<float>::max()).bits(), 0x7f80);
  EXPECT_EQ(Bfloat16(-kInfinity).bits(), 0xff80);
  EXPECT_EQ(Bfloat16(-0.0f).bits(), 0x8000);
  EXPECT_EQ(Bfloat16(-std::numeric_limits<float>::denorm_min()).bits(), 0x8000);
}

TEST(HalfTest, EveryNanStaysANan) {
  for (uint32_t fraction = 1; fraction < 0x400; ++fraction) {
    for (uint32_t sign : {0u, 0x8000u}) {
      const auto bits = static_cast<uint16_t>(sign | 0x7c00 | fraction);
      const float wide = static_cast<float>(Half::FromBits(bits));
      ASSERT_TRUE(std::isnan(wide));
      // Quiet, and otherwise unchanged.
      ASSERT_EQ(Half(wide).bits(), bits | 0x200);
    }
  }
  // A payload only in bits that are cut off must not turn into infinity.
  EXPECT_EQ(Half(std::bit_cast<float>(0x7f800001u)).bits(), 0x7e00);
}

TEST(Bfloat16Test, EveryNanStaysANan) {
  for (uint32_t fraction = 1; fraction < 0x80; ++fraction) {
    for (uint32_t sign : {0u, 0x8000u}) {
      const auto bits = static_cast<uint16_t>(sign | 0x7f80 | fraction);
      const float wide = static_cast<float>(Bfloat16::FromBits(bits));
      ASSERT_TRUE(std::isnan(wide));
      ASSERT_EQ(Bfloat16(wide).bits(), bits | 0x40);
    }
  }
  EXPECT_EQ(Bfloat16(std::bit_cast<float>(0xffffffffu)).bits(), 0xffff);
  EXPECT_EQ(Bfloat16(std::bit_cast<float>(0x7f800001u)).bits(), 0x7fc0);
}

TEST(HalfTest, ConvertsAtCompileTime) {
  static_assert(Half(1.0f).bits() == 0x3c00);
  static_assert(static_cast<float>(Half::FromBits(0x0001)) == 0x1p-24f);
  static_assert(Bfloat16(1.00390625f).bits() == 0x3f80);
  static_assert(static_cast<float>(Bfloat16::FromBits(0x4049)) == 3.140625f);
  SUCCEED();
}

}  // namespace
}  // namespace rondo
