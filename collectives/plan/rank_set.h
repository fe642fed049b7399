// A set of ranks as bits: whose contributions a block holds.
//
// Thread-safety: value.
//
// Example:
//   if (a.FirstCommon(b) >= 0) return "summed twice";
//   a.Add(b);
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo {

class RankSet {
 public:
  RankSet() = default;  // of no ranks at all
  explicit RankSet(int ranks) : words_((ranks + 63) / 64) {}

  static RankSet Only(int rank, int ranks) {
    RankSet set(ranks);
    set.words_[rank / 64] |= uint64_t{1} << (rank % 64);
    return set;
  }
  static RankSet All(int ranks) {
    RankSet set(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      set.words_[rank / 64] |= uint64_t{1} << (rank % 64);
    }
    return set;
  }

  bool Has(int rank) const { return words_[rank / 64] >> (rank % 64) & 1; }

  int Size() const {
    int size = 0;
    for (uint64_t word : words_) size += std::popcount(word);
    return size;
  }

  // The lowest rank that both hold, or -1.
  int FirstCommon(const RankSet& other) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      const uint64_t common = words_[i] & other.words_[i];
      if (common != 0)
        return static_cast<int>(i) * 64 + std::countr_zero(common);
    }
    return -1;
  }

  void Add(const RankSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }

  friend bool operator==(const RankSet&, const RankSet&) = default;

 private:
  std::vector<uint64_t> words_;
};

}  // namespace rondo
