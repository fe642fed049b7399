#include "collectives/kernels/copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
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

constexpr size_t kGuardBytes = 512;  // more than any vector or unit

// Random bytes, so that no displacement goes unnoticed.
std::vector<uint8_t> RandomBytes(size_t bytes) {
  std::mt19937_64 random(bytes);
  std::vector<uint8_t> data(bytes);
  std::generate(data.begin(), data.end(),
                [&] { return static_cast<uint8_t>(random()); });
  return data;
}

// Whether `buffer` holds `bytes` of `source` at `begin`, and the guard before
// and behind.
bool HoldsOnly(const std::vector<uint8_t>& buffer, size_t begin,
               const uint8_t* source, size_t bytes) {
  const auto is_guard = [](uint8_t byte) { return byte == kGuard; };
  const auto first = buffer.begin() + begin;
  return std::all_of(first - kGuardBytes, first, is_guard) &&
         std::memcmp(&*first, source, bytes) == 0 &&
         std::all_of(first + bytes, first + bytes + kGuardBytes, is_guard);
}

// Every distance from 0 to 64 bytes between source and destination, modulo a
// page, at changing alignments of the destination.
void ExpectExactAtEveryDistance(size_t bytes, StoreHint hint) {
  constexpr size_t kSlack = 128;
  const std::vector<uint8_t> source = RandomBytes(bytes + kSlack);
  std::vector<uint8_t> buffer(bytes + kSlack + 2 * kGuardBytes);
  for (size_t distance = 0; distance <= 64; ++distance) {
    const size_t to = kGuardBytes + distance * 29 % 64;
    const uint8_t* const aligned_alike =
        source.data() + (reinterpret_cast<uintptr_t>(buffer.data() + to) -
                         reinterpret_cast<uintptr_t>(source.data())) %
                            64;
    const uint8_t* const from = aligned_alike + distance;
    std::fill(buffer.begin() + to - kGuardBytes,
              buffer.begin() + to + bytes + kGuardBytes, kGuard);
    CopyBytes(buffer.data() + to, from, bytes, hint);
    ASSERT_TRUE(HoldsOnly(buffer, to, from, bytes))
        << bytes << " bytes at a distance of " << distance << ", hint "
        << static_cast<int>(hint);
  }
}

TEST(CopyTest, LargeCopiesAreExactAtEveryDistanceOfSourceAndDestination) {
  ForEveryTarget([](const std::string& target) {
    SCOPED_TRACE(target);
    for (StoreHint hint : {StoreHint::kCached, StoreHint::kStream}) {
      // Around the limit of the C library's way, and odd pages beyond it.
      for (size_t bytes : {2047, 2048, 2049, 2303, 2304, 4096, 8191, 65'537}) {
        ExpectExactAtEveryDistance(bytes, hint);
      }
    }
  });
  for (StoreHint hint : {StoreHint::kCached, StoreHint::kStream}) {
    ExpectExactAtEveryDistance(300'001, hint);
  }
}

// The control: the check sees one byte too many, too few, or wrong.
TEST(CopyTest, TheCheckOfLargeCopiesSeesOneByte) {
  constexpr size_t kBytes = 3000;
  const std::vector<uint8_t> source = RandomBytes(kBytes);
  std::vector<uint8_t> buffer(kBytes + 2 * kGuardBytes, kGuard);
  std::memcpy(buffer.data() + kGuardBytes, source.data(), kBytes);
  EXPECT_TRUE(HoldsOnly(buffer, kGuardBytes, source.data(), kBytes));
  for (size_t damaged : {kGuardBytes - 1, kGuardBytes, kGuardBytes + kBytes - 1,
                         kGuardBytes + kBytes}) {
    buffer[damaged] ^= 1;
    EXPECT_FALSE(HoldsOnly(buffer, kGuardBytes, source.data(), kBytes))
        << damaged;
    buffer[damaged] ^= 1;
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
