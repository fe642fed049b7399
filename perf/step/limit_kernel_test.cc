#include "perf/step/limit_kernel.h"

#include <cstring>

#include "gtest/gtest.h"
#include "hwy/aligned_allocator.h"

namespace rondo::perf {
namespace {

constexpr size_t kCount = 3 * kLimitBlockElements;

struct Case {
  size_t gradient_bytes;
  size_t parameter_bytes;
  size_t ranks;
};

// Arrays with different values everywhere, and a copy of what they held.
class Arrays {
 public:
  explicit Arrays(const Case& sizes)
      : gradients_(Bytes(sizes.ranks * kCount * sizes.gradient_bytes)),
        parameters_(Bytes(sizes.ranks * kCount * sizes.parameter_bytes)),
        state_(hwy::AllocateAligned<uint32_t>(3 * kCount)) {
    for (size_t i = 0; i < sizes.ranks * kCount * sizes.gradient_bytes; ++i) {
      gradients_[i] = static_cast<uint8_t>(i * 37 + i / 251);
    }
    for (size_t i = 0; i < 3 * kCount; ++i) {
      state_[i] = static_cast<uint32_t>(i * 2654435761u);
    }
    before_.assign(state_.get(), state_.get() + 3 * kCount);
    arrays_.count = kCount;
    arrays_.gradient_bytes = sizes.gradient_bytes;
    arrays_.parameter_bytes = sizes.parameter_bytes;
    for (size_t rank = 0; rank < sizes.ranks; ++rank) {
      arrays_.gradients.push_back(reinterpret_cast<std::byte*>(
          gradients_.get() + rank * kCount * sizes.gradient_bytes));
      arrays_.parameters.push_back(reinterpret_cast<std::byte*>(
          parameters_.get() + rank * kCount * sizes.parameter_bytes));
    }
    arrays_.master = state_.get();
    arrays_.first_moment = state_.get() + kCount;
    arrays_.second_moment = state_.get() + 2 * kCount;
  }

  const LimitArrays& arrays() const { return arrays_; }

  // Elements that differ from what one pass should give.
  size_t CountWrong() const {
    size_t wrong = 0;
    for (size_t i = 0; i < kCount; ++i) {
      uint32_t sum = 0;
      for (const std::byte* gradients : arrays_.gradients) {
        uint32_t gradient = 0;
        std::memcpy(&gradient, gradients + i * arrays_.gradient_bytes,
                    arrays_.gradient_bytes);
        sum += gradient;
      }
      const uint32_t first = before_[kCount + i] + sum;
      const uint32_t second = before_[2 * kCount + i] + sum;
      const uint32_t master = before_[i] + (first ^ second);
      bool right = arrays_.master[i] == master &&
                   arrays_.first_moment[i] == first &&
                   arrays_.second_moment[i] == second;
      for (const std::byte* parameters : arrays_.parameters) {
        right = right && std::memcmp(parameters + i * arrays_.parameter_bytes,
                                     &master, arrays_.parameter_bytes) == 0;
      }
      wrong += right ? 0 : 1;
    }
    return wrong;
  }

 private:
  static hwy::AlignedFreeUniquePtr<uint8_t[]> Bytes(size_t bytes) {
    auto memory = hwy::AllocateAligned<uint8_t>(bytes);
    std::memset(memory.get(), 0, bytes);
    return memory;
  }

  hwy::AlignedFreeUniquePtr<uint8_t[]> gradients_;
  hwy::AlignedFreeUniquePtr<uint8_t[]> parameters_;
  hwy::AlignedFreeUniquePtr<uint32_t[]> state_;
  std::vector<uint32_t> before_;
  LimitArrays arrays_;
};

TEST(LimitKernelTest, EveryWayReadsAndWritesEveryElement) {
  for (const Case& sizes :
       {Case{4, 2, 2}, Case{2, 2, 2}, Case{4, 4, 3}, Case{2, 4, 1}}) {
    for (size_t block : {64, 256, 1024}) {
      for (size_t prefetch : {0, 512}) {
        Arrays arrays(sizes);
        RunLimitLoop(arrays.arrays(), {block, prefetch});
        EXPECT_EQ(arrays.CountWrong(), 0u) << block << " " << prefetch;
      }
    }
  }
}

TEST(LimitKernelTest, APassTooFewIsSeen) {
  Arrays arrays({4, 2, 2});
  EXPECT_EQ(arrays.CountWrong(), kCount);
}

TEST(LimitKernelTest, CountsBytesReadAndWritten) {
  // 2 gradients of 4, 3 states read and written, 2 parameters of 2.
  EXPECT_EQ(LimitBytes(Arrays({4, 2, 2}).arrays()), kCount * (8 + 24 + 4));
  EXPECT_EQ(LimitBytes(Arrays({2, 4, 3}).arrays()), kCount * (6 + 24 + 12));
}

}  // namespace
}  // namespace rondo::perf
