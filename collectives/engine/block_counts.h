// BlockCounts: how many elements each block of a vector has.
//
// Equal blocks, the usual case, take no memory of their own: a call must not
// allocate. Blocks of different lengths keep a list and its prefix sums.
//
// Thread-safety: a value. Failure: none; the total must fit a size_t, which
// check_call.h sees to.
//
// Example:
//   const BlockCounts even(1024, world_size);
//   const BlockCounts uneven({5, 0, 7});
//   uneven.Before(2);  // 5
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace rondo {

class BlockCounts {
 public:
  BlockCounts() = default;
  // `blocks` blocks of `count` elements.
  BlockCounts(size_t count, int blocks)
      : blocks_(blocks), largest_(count), total_(count * blocks) {}
  explicit BlockCounts(std::vector<size_t> counts)
      : blocks_(static_cast<int>(counts.size())), counts_(std::move(counts)) {
    for (size_t count : counts_) {
      before_.push_back(total_);
      total_ += count;
      largest_ = std::max(largest_, count);
    }
    // However it was said, equal is equal.
    if (largest_ * counts_.size() == total_) {
      counts_.clear();
      before_.clear();
    }
  }

  int blocks() const { return blocks_; }
  bool even() const { return counts_.empty(); }
  size_t operator[](int block) const {
    return even() ? largest_ : counts_[block];
  }
  // Elements of the blocks before `block`.
  size_t Before(int block) const {
    return even() ? largest_ * block : before_[block];
  }
  size_t largest() const { return largest_; }
  size_t total() const { return total_; }
  // Empty for equal blocks.
  const std::vector<size_t>& uneven() const { return counts_; }

 private:
  int blocks_ = 0;
  size_t largest_ = 0;
  size_t total_ = 0;
  std::vector<size_t> counts_;
  std::vector<size_t> before_;
};

}  // namespace rondo
