#include "collectives/kernels/convert.h"

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
#include "gtest/gtest.h"
#include "transports/base/status.h"

namespace rondo {
namespace {

template <typename From, typename To>
std::vector<To> Converted(DataType from, const std::vector<From>& source,
                          DataType to) {
  std::vector<To> result(source.size());
  const Status status =
      ConvertElements(from, source.data(), to, result.data(), source.size());
  EXPECT_TRUE(status.ok()) << status.ToString();
  return result;
}

// Random bits, so every exponent, and all the values where rounding is hard.
std::vector<float> InterestingFloats() {
  std::vector<float> values;
  uint32_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 1664525u + 1013904223u;
    values.push_back(std::bit_cast<float>(state));
  }
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (uint32_t lower : {0x0000u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u,
                           0x8001u, 0xffffu}) {
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  }
  return values;
}

template <typename T>
void ExpectNarrowsLikeTheScalarType(DataType type) {
  const std::vector<float> source = InterestingFloats();
  ForEveryTarget([&](const std::string& target) {
    const auto result = Converted<float, T>(DataType::kFloat32, source, type);
    for (size_t i = 0; i < source.size(); ++i) {
      ASSERT_EQ(result[i].bits(), T(source[i]).bits())
          << target << ": " << std::bit_cast<uint32_t>(source[i]);
    }
  });
}

template <typename T>
void ExpectWidensLikeTheScalarType(DataType type) {
  std::vector<T> source;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    source.push_back(T::FromBits(static_cast<uint16_t>(bits)));
  }
  ForEveryTarget([&](const std::string& target) {
    const auto result = Converted<T, float>(type, source, DataType::kFloat32);
    const auto wide = Converted<T, double>(type, source, DataType::kFloat64);
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const float want = static_cast<float>(source[bits]);
      ASSERT_EQ(std::bit_cast<uint32_t>(result[bits]),
                std::bit_cast<uint32_t>(want))
          << target << ": " << bits;
      ASSERT_EQ(std::isnan(wide[bits]), std::isnan(want));
      if (std::isnan(want)) continue;
      ASSERT_EQ(wide[bits], double{want}) << bits;
    }
  });
}

TEST(ConvertTest, FloatToHalfRoundsAsTheScalarTypeDoes) {
  ExpectNarrowsLikeTheScalarType<Half>(DataType::kFloat16);
}

TEST(ConvertTest, FloatToBfloat16RoundsAsTheScalarTypeDoes) {
  ExpectNarrowsLikeTheScalarType<Bfloat16>(DataType::kBfloat16);
}

TEST(ConvertTest, EveryHalfWidensExactly) {
  ExpectWidensLikeTheScalarType<Half>(DataType::kFloat16);
}

TEST(ConvertTest, EveryBfloat16WidensExactly) {
  ExpectWidensLikeTheScalarType<Bfloat16>(DataType::kBfloat16);
}

// Doubles just off the middle of two neighbours of a 16-bit type, by less than
// float can tell: rounding to float first would land on the middle, and then
// to even.
template <typename T>
void ExpectOneRoundingFromDouble(DataType type, uint16_t infinity) {
  std::vector<double> source;
  std::vector<uint16_t> want;
  for (uint16_t bits = 0; bits + 1 < infinity; ++bits) {
    const auto next = static_cast<uint16_t>(bits + 1);
    const double low = static_cast<float>(T::FromBits(bits));
    const double high = static_cast<float>(T::FromBits(next));
    const double middle = (low + high) / 2;
    for (double sign : {1.0, -1.0}) {
      const auto sign_bit = static_cast<uint16_t>(sign < 0 ? 0x8000 : 0);
      source.push_back(sign * std::nextafter(middle, 0.0));
      want.push_back(sign_bit | bits);
      source.push_back(sign * middle);
      want.push_back(sign_bit | (bits & 1 ? next : bits));
      source.push_back(sign * std::nextafter(middle, 1e300));
      want.push_back(sign_bit | next);
    }
  }
  ForEveryTarget([&](const std::string& target) {
    const auto result = Converted<double, T>(DataType::kFloat64, source, type);
    for (size_t i = 0; i < source.size(); ++i) {
      ASSERT_EQ(result[i].bits(), want[i]) << target << ": " << source[i];
    }
  });
}

TEST(ConvertTest, DoubleToHalfRoundsOnce) {
  ExpectOneRoundingFromDouble<Half>(DataType::kFloat16, 0x7c00);
}

TEST(ConvertTest, DoubleToBfloat16RoundsOnce) {
  ExpectOneRoundingFromDouble<Bfloat16>(DataType::kBfloat16, 0x7f80);
}

TEST(ConvertTest, RoundingDoubleByWayOfFloatWouldBeSeen) {
  // Just above the middle of 1 and the next half.
  const double value = std::nextafter(1.0 + 0x1p-11, 2.0);
  EXPECT_EQ(Half(static_cast<float>(value)).bits(), 0x3c00);
  EXPECT_EQ((Converted<double, Half>(DataType::kFloat64, {value},
                                     DataType::kFloat16)[0]
                 .bits()),
            0x3c01);
}

TEST(ConvertTest, SpecialDoublesKeepTheirMeaning) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> source = {infinity, -infinity, 1e300,  -1e300,
                                      0.0,      -0.0,      1e-300, nan};
  ForEveryTarget([&](const std::string& target) {
    SCOPED_TRACE(target);
    const auto floats = Converted<double, float>(DataType::kFloat64, source,
                                                 DataType::kFloat32);
    const auto halves =
        Converted<double, Half>(DataType::kFloat64, source, DataType::kFloat16);
    const auto bfloats = Converted<double, Bfloat16>(DataType::kFloat64, source,
                                                     DataType::kBfloat16);
    for (size_t i = 0; i + 1 < source.size(); ++i) {
      const float want = static_cast<float>(source[i]);
      EXPECT_EQ(std::bit_cast<uint32_t>(floats[i]),
                std::bit_cast<uint32_t>(want));
      EXPECT_EQ(halves[i].bits(), Half(want).bits());
      EXPECT_EQ(bfloats[i].bits(), Bfloat16(want).bits());
    }
    EXPECT_TRUE(std::isnan(floats.back()));
    EXPECT_TRUE(std::isnan(static_cast<float>(halves.back())));
    EXPECT_TRUE(std::isnan(static_cast<float>(bfloats.back())));
  });
}

TEST(ConvertTest, WritesExactlyCountElementsAtAnyAlignment) {
  const std::vector<float> values = InterestingFloats();
  for (size_t count : {0, 1, 3, 7, 8, 9, 31, 63, 64, 65, 257}) {
    for (size_t shift = 0; shift < 16; ++shift) {
      std::vector<uint8_t> source(count * 4 + shift);
      std::vector<uint8_t> result(count * 2 + shift + 16, 0xa5);
      if (count > 0) {
        std::memcpy(source.data() + shift, values.data(), count * 4);
      }
      ASSERT_TRUE(ConvertElements(DataType::kFloat32, source.data() + shift,
                                  DataType::kBfloat16, result.data() + shift,
                                  count)
                      .ok());
      for (size_t i = 0; i < count; ++i) {
        uint16_t bits;
        std::memcpy(&bits, result.data() + shift + 2 * i, 2);
        ASSERT_EQ(bits, Bfloat16(values[i]).bits());
      }
      for (size_t i = 0; i < result.size(); ++i) {
        if (i >= shift && i < shift + count * 2) continue;
        ASSERT_EQ(result[i], 0xa5);
      }
    }
  }
}

TEST(ConvertTest, TypesOfOneSizeConvertInPlace) {
  std::vector<uint16_t> data;
  for (int i = 0; i < 1000; ++i) {
    data.push_back(Half(static_cast<float>(i) / 8).bits());
  }
  ASSERT_TRUE(ConvertElements(DataType::kFloat16, data.data(),
                              DataType::kBfloat16, data.data(), data.size())
                  .ok());
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(data[static_cast<size_t>(i)],
              Bfloat16(static_cast<float>(i) / 8).bits());
  }
}

TEST(ConvertTest, EqualTypesCopyEveryBit) {
  const std::vector<float> source = InterestingFloats();
  const auto result =
      Converted<float, float>(DataType::kFloat32, source, DataType::kFloat32);
  EXPECT_EQ(std::memcmp(result.data(), source.data(), source.size() * 4), 0);
}

TEST(ConvertTest, IntegerTypesAreRefusedByName) {
  float value = 1;
  const Status status =
      ConvertElements(DataType::kFloat32, &value, DataType::kInt32, &value, 1);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "cannot convert float to int32; accepted are half, float, double, "
            "bfloat16");
  EXPECT_FALSE(
      ConvertElements(DataType::kUint8, &value, DataType::kFloat32, &value, 1)
          .ok());
}

}  // namespace
}  // namespace rondo
