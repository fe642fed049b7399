#include "perf/bench/buffer.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

TEST(BufferTest, EveryKindIsFoundByItsName) {
  EXPECT_EQ(BufferKindNames(), (std::vector<std::string>{"user", "symmetric"}));
  for (const std::string& name : BufferKindNames()) {
    const auto kind = ParseBufferKind(name);
    ASSERT_TRUE(kind.ok());
    EXPECT_EQ(BufferKindName(*kind), name);
  }
  const auto refused = ParseBufferKind("gpu");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("user, symmetric"),
            std::string::npos);
}

TEST(BufferTest, EveryKindHasMemoryThatMovesWithIt) {
  for (BufferKind kind : {BufferKind::kUser, BufferKind::kSymmetric}) {
    auto allocated = Buffer::Allocate(kind, 10000);
    ASSERT_TRUE(allocated.ok()) << allocated.status().ToString();
    EXPECT_EQ(allocated->bytes(), 10000u);
    std::byte* data = allocated->data();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 4096, 0u);
    std::memset(data, 7, 10000);
    const Buffer moved = *std::move(allocated);
    EXPECT_EQ(moved.data(), data);
    EXPECT_EQ(moved.data()[9999], std::byte{7});
  }
}

}  // namespace
}  // namespace rondo::perf
