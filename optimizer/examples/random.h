// Random: a small generator whose numbers are the same on every machine.
//
// The distributions of <random> may differ between standard libraries, and logs
// and cosines between C libraries; ranks on unlike hosts must start from the
// same bits. So this uses integers, and divisions by powers of two, alone. The
// sequence is SplitMix64 (Steele, Lea and Flood, 2014).
//
// Thread-safety: a value, for one thread. Ownership: none. Failure: none.
//
// Example:
//   Random random(seed);
//   size_t position = random.Below(size);
#pragma once

#include <cstdint>

namespace rondo {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
  }

  // In [0, limit), for limit of at least 1; the bias is below limit / 2^64.
  uint64_t Below(uint64_t limit) { return Next() % limit; }

  // In [0, 1), a multiple of 2^-24: exact also as a float.
  double Fraction() { return static_cast<double>(Next() >> 40) * 0x1p-24; }

 private:
  uint64_t state_;
};

}  // namespace rondo
