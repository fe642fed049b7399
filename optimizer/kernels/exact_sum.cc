#include "optimizer/kernels/exact_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace rondo {
namespace {

constexpr int kMantissaBits = 52;
constexpr uint64_t kLowWord = 0xffffffff;

}  // namespace

void ExactSum::Add(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  const int exponent = static_cast<int>(bits >> kMantissaBits) & 0x7ff;
  if (exponent == 0x7ff) {
    special_ += static_cast<float>(x);
    return;
  }
  uint64_t mantissa = bits & ((uint64_t{1} << kMantissaBits) - 1);
  if (exponent > 0) mantissa |= uint64_t{1} << kMantissaBits;
  // Subnormals have the exponent of the smallest normals.
  const int position = std::max(exponent, 1) - 1;
  const int shift = position % 32;
  int64_t* const word = words_ + position / 32;
  // 53 bits, shifted by up to 31, are 84: three words.
  const uint64_t low = (mantissa << shift) & kLowWord;
  const uint64_t middle = (mantissa >> (32 - shift)) & kLowWord;
  const uint64_t high = (mantissa >> (32 - shift)) >> 32;
  const int64_t sign = (bits >> 63) != 0 ? -1 : 1;
  word[0] += sign * static_cast<int64_t>(low);
  word[1] += sign * static_cast<int64_t>(middle);
  word[2] += sign * static_cast<int64_t>(high);
  if (++waiting_ == kMostWaiting) Carry();
}

void ExactSum::Merge(const ExactSum& other) {
  ExactSum carried = other;
  carried.Carry();
  for (int i = 0; i < kWords; ++i) words_[i] += carried.words_[i];
  special_ += other.special_;
  if (++waiting_ == kMostWaiting) Carry();
}

void ExactSum::Carry() {
  for (int i = 0; i + 1 < kWords; ++i) {
    words_[i + 1] += words_[i] >> 32;  // rounds down
    words_[i] &= static_cast<int64_t>(kLowWord);
  }
  waiting_ = 0;
}

double ExactSum::Result() const {
  if (special_ != 0 || std::isnan(special_)) return special_;
  ExactSum sum = *this;
  sum.Carry();
  const bool negative = sum.words_[kWords - 1] < 0;
  if (negative) {
    for (int64_t& word : sum.words_) word = -word;
    sum.Carry();
  }
  int top = kWords - 1;
  while (top > 0 && sum.words_[top] == 0) --top;
  // The leading 64 bits or more, and whether anything lies below them: enough
  // for one rounding, which the conversion makes. A double has 53.
  const auto word = [&](int i) {
    return i < 0 ? uint64_t{0} : static_cast<uint64_t>(sum.words_[i]);
  };
  const int zeros = std::countl_zero(static_cast<uint32_t>(word(top)));
  uint64_t leading = (word(top) << 32 | word(top - 1)) << zeros;
  if (zeros > 0) leading |= word(top - 2) >> (32 - zeros);
  uint64_t rest = (word(top - 2) << zeros) & kLowWord;
  for (int i = top - 3; i >= 0; --i) rest |= word(i);
  if (rest != 0) leading |= 1;  // sticky
  // Bit 0 of `leading` is worth 2^(exponent).
  const int exponent = 32 * (top - 1) - zeros - 1074;
  // A subnormal result has fewer bits and would be rounded twice; but sums are
  // multiples of 2^-1074, so there it is exact.
  const double magnitude = std::ldexp(static_cast<double>(leading), exponent);
  return negative ? -magnitude : magnitude;
}

}  // namespace rondo
