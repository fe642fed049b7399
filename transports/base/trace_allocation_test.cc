// Proves that recording allocates nothing, by counting in operator new. Apart
// from trace_test.cc because the replacement is for the whole program.
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include "gtest/gtest.h"
#include "transports/base/trace.h"

namespace {
thread_local int64_t allocations = 0;
}  // namespace

// Not inlined, or the compiler pairs malloc with the delete of its callers.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace rondo {
namespace {

TEST(TraceAllocationTest, RecordingAllocatesNothing) {
  const auto recorder = TraceRecorder::Create(0, /*event_capacity=*/8);
  ASSERT_TRUE(recorder.ok());
  const std::string name(200, 'n');
  const int64_t before = allocations;
  for (int i = 0; i < 100; ++i) {
    TraceSpan span(recorder->get(), name, "step", 0);
    span.Argument("bytes", i);
    (*recorder)->Counter(name, i, i);
    (*recorder)->FlowStart(name, 0, i, i);
    (*recorder)->FlowEnd(name, 0, i, i);
  }
  EXPECT_EQ(allocations, before);
  EXPECT_EQ((*recorder)->dropped(), 400u - 8u);
}

TEST(TraceAllocationTest, TheCounterDoesCount) {
  const auto recorder = TraceRecorder::Create(0, /*event_capacity=*/8);
  ASSERT_TRUE(recorder.ok());
  const int64_t before = allocations;
  EXPECT_FALSE((*recorder)->ToJson().empty());
  EXPECT_GT(allocations, before);
}

}  // namespace
}  // namespace rondo
