#include "collectives/kernels/copy.h"

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/kernels/every_target.h"
#include "collectives/kernels/store_hint.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

constexpr uint8_t kGuard = 0xa5;

std::vector<uint8_t> Pattern(size_t bytes) {
  std::vector<uint8_t> data(bytes);
  for (size_t i = 0; i < bytes; ++i) {
    data[i] = static_cast<uint8_t>(i * 167 + i / 256);
  }
  return data;
}

void ExpectExactCopy(size_t bytes, size_t from, size_t to, StoreHint hint) {
  const std::vector<uint8_t> source = Pattern(bytes + from);
  std::vector<uint8_t> destination(bytes + to + 64, kGuard);
  CopyBytes(destination.data() + to, source.data() + from, bytes, hint);
  for (size_t i = 0; i < destination.size(); ++i) {
    const bool inside = i >= to && i < to + bytes;
    ASSERT_EQ(destination[i], inside ? source[from + i - to] : kGuard)
        << "byte " << i << " of " << bytes << " from " << from << " to " << to;
  }
}

TEST(CopyTest, CopiesEveryByteAndNoOtherAtEverySizeAndAlignment) {
  ForEveryTarget([](const std::string& target) {
    SCOPED_TRACE(target);
    for (StoreHint hint : {StoreHint::kCached, StoreHint::kStream}) {
      for (size_t bytes : {0, 1, 63, 64, 511, 512, 513, 767, 768, 4099}) {
        for (size_t to = 0; to < 64; to += 3) {
          ExpectExactCopy(bytes, (to * 7) % 64, to, hint);
        }
      }
    }
  });
}

TEST(CopyTest, StreamsFromEverySourceAlignment) {
  for (size_t from = 0; from < 64; ++from) {
    ExpectExactCopy(2000, from, 0, StoreHint::kStream);
  }
}

TEST(CopyTest, IdenticalRangesStayAsTheyAre) {
  for (StoreHint hint : {StoreHint::kCached, StoreHint::kStream}) {
    std::vector<uint8_t> data = Pattern(5000);
    CopyBytes(data.data(), data.data(), data.size(), hint);
    EXPECT_EQ(data, Pattern(5000));
  }
}

TEST(CopyTest, NothingToCopyNeedsNoPointers) {
  CopyBytes(nullptr, nullptr, 0, StoreHint::kStream);
  uint8_t byte = kGuard;
  CopyBytes(&byte, nullptr, 0, StoreHint::kStream);
  EXPECT_EQ(byte, kGuard);
}

}  // namespace
}  // namespace rondo
