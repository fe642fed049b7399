// What each rank puts into each element of the test data (test_data.h).
//
// Private to test_data.cc. Thread-safety: values. Ownership: none. Failure:
// none; ranks are 0 to kMaxTestRanks - 1.
//
// Example:
//   const RankData<Half> rank(seed, 3);
//   int64_t term = rank.SumTerm(element);  // 0, or at most 136 in magnitude
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "collectives/kernels/half.h"
#include "collectives/kernels/test_data.h"

namespace rondo {
namespace test_data_internal {

// Ranks below this contribute to every element; see Contributes.
inline constexpr int kDenseRanks = 8;
// 8, and one of each of 8-15, 16-31, 32-63, 64-127, 128-255, 256-511, 512-1023.
inline constexpr int kContributors = kDenseRanks + 7;

// The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
constexpr uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

inline constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;

// Random bits for an element: of one rank, or common to a group of ranks.
class Stream {
 public:
  Stream(uint64_t seed, uint64_t which)
      : base_(Mix(Mix(seed + kGolden) ^ (which * kGolden))) {}
  uint64_t operator()(size_t element) const {
    return Mix(base_ + kGolden * (element + 1));
  }

 private:
  uint64_t base_;
};

// The format of a floating-point type T and the unsigned integer of its bits.
template <typename T>
struct Format;
template <>
struct Format<Half> {
  using Bits = uint16_t;
  static constexpr int kFractionBits = 10, kExponentBits = 5;
};
template <>
struct Format<Bfloat16> {
  using Bits = uint16_t;
  static constexpr int kFractionBits = 7, kExponentBits = 8;
};
template <>
struct Format<float> {
  using Bits = uint32_t;
  static constexpr int kFractionBits = 23, kExponentBits = 8;
};
template <>
struct Format<double> {
  using Bits = uint64_t;
  static constexpr int kFractionBits = 52, kExponentBits = 11;
};

// Largest integer up to which every integer is a value of T. The accumulators
// here are int64_t, which bounds uint64_t as well.
template <typename T>
constexpr int64_t ExactIntegers() {
  if constexpr (std::is_same_v<T, uint64_t>) {
    return std::numeric_limits<int64_t>::max();
  } else if constexpr (std::is_integral_v<T>) {
    return std::numeric_limits<T>::max();
  } else {
    return int64_t{1} << (Format<T>::kFractionBits + 1);
  }
}

// Whether the type has room for a good range of values from every rank.
template <typename T>
inline constexpr bool kEveryRankContributes = sizeof(T) >= 4;

// The inputs of one rank.
template <typename T>
class RankData {
 public:
  RankData(uint64_t seed, int rank)
      : rank_(rank),
        own_(seed, static_cast<uint64_t>(rank)),
        // Streams of groups are numbered after those of the ranks.
        group_(seed, static_cast<uint64_t>(kMaxTestRanks) + GroupSize()) {}

  int64_t SumTerm(size_t element) const {
    constexpr bool kDense = kEveryRankContributes<T>;
    constexpr int64_t kLargest =
        ExactIntegers<T>() / (kDense ? kMaxTestRanks : kContributors);
    if (!kDense && !Contributes(element)) return 0;
    const uint64_t bits = own_(element);
    const auto magnitude =
        static_cast<int64_t>(1 + (bits >> 1) % uint64_t{kLargest});
    return !std::is_unsigned_v<T> && (bits & 1) ? -magnitude : magnitude;
  }

  // For integers: odd and not 1. They fit 8 bits, but as int8_t may be
  // negative.
  T IntegerFactor(size_t element) const {
    return static_cast<T>(3 + 2 * (own_(element) % 126));
  }

  // For floats: a power of two other than 1, of either sign.
  double FloatFactor(size_t element) const {
    constexpr int kBias = (1 << (Format<T>::kExponentBits - 1)) - 1;
    constexpr int kLargest = kBias / kContributors;
    if (!Contributes(element)) return 1;
    const uint64_t bits = own_(element);
    const int exponent = 1 + static_cast<int>((bits >> 2) % kLargest);
    const double factor = std::ldexp(1.0, bits & 1 ? exponent : -exponent);
    return bits & 2 ? -factor : factor;
  }

  // Any integer, or any normal float.
  T AnyValue(size_t element) const {
    const uint64_t bits = own_(element);
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits);
    } else {
      using F = Format<T>;
      using Bits = typename F::Bits;
      constexpr uint64_t kExponents = (uint64_t{1} << F::kExponentBits) - 2;
      constexpr uint64_t kExponentMask = ((uint64_t{1} << F::kExponentBits) - 1)
                                         << F::kFractionBits;
      // The exponent needs bits of its own: those of a double use up all 64.
      const uint64_t exponent = 1 + Mix(bits) % kExponents;
      return std::bit_cast<T>(static_cast<Bits>(
          (bits & ~kExponentMask) | (exponent << F::kFractionBits)));
    }
  }

 private:
  uint64_t GroupSize() const {
    return std::bit_floor(static_cast<unsigned>(rank_));
  }

  // Whether a type without room for all ranks takes this one's element.
  bool Contributes(size_t element) const {
    if (rank_ < kDenseRanks) return true;
    const uint64_t size = GroupSize();
    return group_(element) % size == static_cast<uint64_t>(rank_) - size;
  }

  int rank_;
  Stream own_;
  Stream group_;
};

}  // namespace test_data_internal
}  // namespace rondo
