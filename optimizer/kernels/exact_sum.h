// ExactSum: a sum of doubles without rounding, in any order.
//
// The sum is a fixed-point number wide enough for every finite double: words of
// 32 bits, each in 64 bits so that carries may wait (Kulisch, Computer
// Arithmetic and Validity, 2013; Neal, Fast Exact Summation Using Small and
// Large Superaccumulators, 2015). What comes out is rounded once, so that
// neither the order of the numbers nor how they were split between ranks can
// change a bit. Ranks send it as it is: it is plain memory of a fixed size, on
// hosts of one byte order.
//
// Thread-safety: a value. Ownership: none. Failure: none; an infinity or NaN
// among the numbers makes the result infinite or NaN.
//
// Example:
//   ExactSum sum;
//   for (double x : numbers) sum.Add(x);
//   sum.Merge(other);
//   double rounded_once = sum.Result();
#pragma once

#include <cstdint>

namespace rondo {

class ExactSum {
 public:
  void Add(double x);
  void Merge(const ExactSum& other);

  // To nearest, ties to even; infinite where it exceeds the largest double.
  double Result() const;

 private:
  // Bit 0 of word 0 is worth 2^-1074, the smallest double; the largest is below
  // 2^1024. Two more words take the carries.
  static constexpr int kWords = (1074 + 1024) / 32 + 3;
  static constexpr int kMostWaiting = 1 << 30;  // additions before a carry

  // Leaves every word but the last in [0, 2^32).
  void Carry();

  int64_t words_[kWords] = {};
  int32_t waiting_ = 0;  // additions since the last carry
  // What infinities and NaNs add up to; 0 while there was none.
  float special_ = 0;
};

}  // namespace rondo
