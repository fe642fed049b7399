// Half and Bfloat16: the two 16-bit floating point types as plain values.
//
// They only store and convert; arithmetic is done in float by the caller, who
// rounds once at the end. Conversion from float rounds to nearest, ties to
// even, with subnormals, infinities and signed zeros kept; what is too large
// becomes an infinity. A NaN stays a NaN: narrowing keeps its sign and the
// upper bits of its payload and makes it quiet, and so does widening a Half,
// because that is what the conversion instructions of x86 do and the vector
// code must give the same bits.
//
// Thread-safety: values. Failure: none; every bit pattern is a value.
//
// Example:
//   Bfloat16 rounded(1.00390625f);              // halfway between 1 and 1 +
//   2^-7 float back = static_cast<float>(rounded);  // 1: ties go to even
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace rondo {
namespace half_internal {

inline constexpr uint32_t kFloatInfinity = 0x7f800000u;

constexpr uint16_t HalfBitsFromFloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t result = 0;
  if (magnitude > kFloatInfinity) {
    result = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude < 0x38800000u) {
    // Below 2^-14 the result is subnormal: a multiple of 2^-24, which is also
    // the spacing of floats in [0.5, 1), so adding 0.5 rounds as needed.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    result = std::bit_cast<uint32_t>(shifted) - 0x3f000000u;
  } else {
    const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    result = (rounded - 0x38000000u) >> 13;
    if (result > 0x7c00u) result = 0x7c00u;
  }
  return static_cast<uint16_t>(sign | result);
}

constexpr float FloatFromHalfBits(uint16_t half_bits) {
  const uint32_t bits = half_bits;
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  uint32_t result = magnitude << 13;
  if (magnitude >= 0x7c00u) {
    result |= kFloatInfinity;
    if (magnitude > 0x7c00u) result |= 0x00400000u;
  } else {
    // Exponent and fraction sit 112 binades too low, subnormals included.
    result = std::bit_cast<uint32_t>(std::bit_cast<float>(result) * 0x1p112f);
  }
  return std::bit_cast<float>(sign | result);
}

constexpr uint16_t Bfloat16BitsFromFloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > kFloatInfinity) {
    return static_cast<uint16_t>((bits >> 16) | 0x40u);
  }
  // A carry out of the fraction goes into the exponent, as it should.
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

constexpr float FloatFromBfloat16Bits(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

}  // namespace half_internal

// IEEE binary16: 1 sign, 5 exponent and 10 fraction bits. Largest value 65504.
class Half {
 public:
  Half() = default;
  explicit constexpr Half(float value)
      : bits_(half_internal::HalfBitsFromFloat(value)) {}
  static constexpr Half FromBits(uint16_t bits) {
    Half half(0.0f);
    half.bits_ = bits;
    return half;
  }

  explicit constexpr operator float() const {
    return half_internal::FloatFromHalfBits(bits_);
  }
  constexpr uint16_t bits() const { return bits_; }

 private:
  uint16_t bits_;
};

// The upper half of an IEEE binary32: 1 sign, 8 exponent and 7 fraction bits.
class Bfloat16 {
 public:
  Bfloat16() = default;
  explicit constexpr Bfloat16(float value)
      : bits_(half_internal::Bfloat16BitsFromFloat(value)) {}
  static constexpr Bfloat16 FromBits(uint16_t bits) {
    Bfloat16 bfloat16(0.0f);
    bfloat16.bits_ = bits;
    return bfloat16;
  }

  explicit constexpr operator float() const {
    return half_internal::FloatFromBfloat16Bits(bits_);
  }
  constexpr uint16_t bits() const { return bits_; }

 private:
  uint16_t bits_;
};

static_assert(sizeof(Half) == 2 && std::is_trivially_copyable_v<Half>);
static_assert(sizeof(Bfloat16) == 2 && std::is_trivially_copyable_v<Bfloat16>);

}  // namespace rondo
