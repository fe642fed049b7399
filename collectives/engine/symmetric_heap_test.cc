#include "collectives/engine/symmetric_heap.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

using testing::HasSubstr;

constexpr size_t kPage = 4096;

SymmetricHeap& Heap() { return SymmetricHeap::Get(); }

char* Allocated(size_t bytes) {
  Result<void*> data = Heap().Allocate(bytes);
  EXPECT_TRUE(data.ok()) << data.status().ToString();
  return data.ok() ? static_cast<char*>(*data) : nullptr;
}

void ExpectFreed(void* data) {
  const Status status = Heap().Free(data);
  EXPECT_TRUE(status.ok()) << status.ToString();
}

bool IsPageAligned(const void* data) {
  return reinterpret_cast<uintptr_t>(data) % kPage == 0;
}

TEST(SymmetricHeapTest, MemoryIsZeroedAndAlignedAlsoWhenUsedAgain) {
  constexpr size_t kBytes = 3 * kPage + 17;
  for (int round = 0; round < 3; ++round) {
    char* const data = Allocated(kBytes);
    ASSERT_NE(data, nullptr);
    EXPECT_TRUE(IsPageAligned(data));
    EXPECT_TRUE(std::all_of(data, data + kBytes, [](char c) { return c == 0; }))
        << "round " << round;
    std::memset(data, 'x', kBytes);
    ExpectFreed(data);
  }
}

TEST(SymmetricHeapTest, FindsRangesThatLieInASegmentAndNoOthers) {
  constexpr size_t kBytes = 4 * kPage;
  char* const data = Allocated(kBytes);
  ASSERT_NE(data, nullptr);
  struct Range {
    ptrdiff_t offset;
    size_t bytes;
    bool inside;
  };
  for (const Range& range : std::vector<Range>{
           {0, kBytes, true},
           {0, 0, true},
           {1, kBytes - 1, true},
           {kPage + 5, 100, true},
           {kBytes - 1, 1, true},
           {-1, 1, false},
           {-1, 2, false},
           {0, kBytes + 1, false},
           {1, kBytes, false},
           {kBytes - 1, 2, false},
           {kBytes, 1, false},
           {kBytes + 1, 1, false},
           {1, SIZE_MAX, false},  // beyond the last address
       }) {
    const auto found = Heap().Find(data + range.offset, range.bytes);
    EXPECT_EQ(found != nullptr && found->data() == data, range.inside)
        << range.bytes << " bytes at " << range.offset;
  }
  EXPECT_EQ(Heap().Find(nullptr, 1), nullptr);
  ExpectFreed(data);
  EXPECT_EQ(Heap().Find(data, 1), nullptr);
}

TEST(SymmetricHeapTest, EveryAddressBelongsToItsOwnSegment) {
  std::vector<char*> segments;
  for (size_t i = 1; i <= 8; ++i) segments.push_back(Allocated(i * kPage));
  for (size_t i = 1; i <= 8; ++i) {
    char* const data = segments[i - 1];
    const auto found = Heap().Find(data + i * kPage - 1, 1);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->data(), data);
    EXPECT_EQ(found->bytes(), i * kPage);
  }
  for (char* data : segments) ExpectFreed(data);
}

TEST(SymmetricHeapTest, SharedSegmentsHaveDifferentNames) {
  char* const one = Allocated(kPage);
  char* const other = Allocated(kPage);
  const SymmetricName first = Heap().Find(one, 1)->name();
  const SymmetricName second = Heap().Find(other, 1)->name();
  EXPECT_NE(first.identity, 0u) << "shared memory is needed for this test";
  EXPECT_NE(first.identity, second.identity);
  EXPECT_EQ(first.base, reinterpret_cast<uint64_t>(one));
  EXPECT_EQ(first.bytes, kPage);
  EXPECT_EQ(*IdentityOf(one, first.bytes), first.identity);
  ExpectFreed(one);
  ExpectFreed(other);
}

TEST(SymmetricHeapTest, NoBytesAreAValidAddress) {
  char* const one = Allocated(0);
  char* const other = Allocated(0);
  EXPECT_NE(one, nullptr);
  EXPECT_NE(one, other);
  EXPECT_NE(Heap().Find(one, 0), nullptr);
  ExpectFreed(one);
  ExpectFreed(other);
}

TEST(SymmetricHeapTest, FreeRefusesWhatItDidNotGive) {
  const uint64_t freed_before = Heap().freed();
  char* const data = Allocated(2 * kPage);
  int on_stack = 0;
  for (void* wrong :
       {static_cast<void*>(&on_stack), static_cast<void*>(data + 1),
        static_cast<void*>(data + kPage)}) {
    const Status status = Heap().Free(wrong);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("living symmetric buffer"));
  }
  EXPECT_EQ(Heap().freed(), freed_before);
  ExpectFreed(data);
  EXPECT_EQ(Heap().freed(), freed_before + 1);
  EXPECT_EQ(Heap().Free(data).code(), Code::kInvalidArgument) << "twice";
}

TEST(SymmetricHeapTest, FreeOfNullDoesNothing) {
  const uint64_t freed_before = Heap().freed();
  ExpectFreed(nullptr);
  EXPECT_EQ(Heap().freed(), freed_before);
}

TEST(SymmetricHeapTest, ASegmentInUseIsNotFreed) {
  char* const data = Allocated(kPage);
  auto held = Heap().Find(data + 100, 50);
  ASSERT_NE(held, nullptr);
  const Status status = Heap().Free(data);
  EXPECT_EQ(status.code(), Code::kInvalidUsage);
  EXPECT_THAT(status.message(), HasSubstr("in use"));
  std::memset(data, 'x', kPage);  // still there
  EXPECT_EQ(Heap().Find(data, kPage), held);
  held.reset();
  ExpectFreed(data);
}

TEST(SymmetricHeapTest, MoreThanThereIsOfMemoryIsAnError) {
  // Beyond what any process can address, and beyond what a size can be.
  for (size_t bytes : {size_t{1} << 48, SIZE_MAX - 1, SIZE_MAX}) {
    const Result<void*> data = Heap().Allocate(bytes);
    ASSERT_FALSE(data.ok()) << bytes;
    EXPECT_EQ(data.status().code(), Code::kResourceExhausted);
    EXPECT_THAT(data.status().message(), HasSubstr(std::to_string(bytes)));
  }
}

TEST(SymmetricHeapTest, ThreadsMayAllocateFindAndFreeTogether) {
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([id] {
      for (int i = 0; i < 50; ++i) {
        const size_t bytes = (1 + (id + i) % 5) * kPage;
        char* const data = Allocated(bytes);
        auto found = Heap().Find(data + bytes / 2, bytes / 2);
        ASSERT_NE(found, nullptr);
        EXPECT_EQ(found->data(), data);
        EXPECT_EQ(Heap().Free(data).code(), Code::kInvalidUsage);
        std::memset(data, id, bytes);
        found.reset();
        ExpectFreed(data);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Exits with 0 if memory that cannot be shared works all the same.
[[noreturn]] void UseMemoryThatCannotBeShared() {
  setenv("UCX_POSIX_DIR", "/proc", 1);  // it never has room
  Result<void*> data = Heap().Allocate(2 * kPage);
  if (!data.ok()) std::exit(1);
  auto segment = Heap().Find(*data, 2 * kPage);
  if (segment == nullptr || segment->name().identity != 0) std::exit(2);
  if (!IsPageAligned(*data)) std::exit(3);
  char* const bytes = static_cast<char*>(*data);
  if (!std::all_of(bytes, bytes + 2 * kPage, [](char c) { return c == 0; })) {
    std::exit(4);
  }
  std::memset(bytes, 'x', 2 * kPage);
  segment.reset();
  std::exit(Heap().Free(*data).ok() && Heap().Find(*data, 1) == nullptr ? 0
                                                                        : 5);
}

// In a process of its own, in which UCX has not yet read its settings.
TEST(SymmetricHeapDeathTest, WithoutRoomToShareMemoryIsOrdinaryAndOneLineSays) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(UseMemoryThatCannotBeShared(), testing::ExitedWithCode(0),
              "8192 bytes is ordinary memory, because it cannot be shared");
}

}  // namespace
}  // namespace rondo
