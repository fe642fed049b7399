// RuleFingerprint: a 64-bit digest of what all ranks must agree on.
//
// FNV-1a over the bytes of the values added, with each text's length, in the
// order added. Equal values give equal digests on every machine; it is for
// finding mistakes, not for defence against forgery.
//
// Thread-safety: a value. Ownership: none. Failure: none.
//
// Example:
//   return RuleFingerprint().Add(name()).Add(learning_rate).Add(step).value();
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <string_view>

namespace rondo {

class RuleFingerprint {
 public:
  RuleFingerprint& Add(std::string_view text) {
    Add(static_cast<int64_t>(text.size()));
    for (char c : text) AddByte(static_cast<uint8_t>(c));
    return *this;
  }
  RuleFingerprint& Add(std::integral auto value) {
    const auto bits = static_cast<uint64_t>(static_cast<int64_t>(value));
    for (int shift = 0; shift < 64; shift += 8) {
      AddByte(static_cast<uint8_t>(bits >> shift));
    }
    return *this;
  }
  // 0 and -0 differ, as their bits do.
  RuleFingerprint& Add(double value) {
    return Add(std::bit_cast<int64_t>(value));
  }

  uint64_t value() const { return hash_; }

 private:
  void AddByte(uint8_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3u; }

  uint64_t hash_ = 0xcbf29ce484222325u;
};

}  // namespace rondo
