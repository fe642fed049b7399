#include "collectives/symmetric_buffer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/testing/world.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

constexpr size_t kCount = 20'000;  // of int32: too much to go with a header

SymmetricBuffer Allocated(size_t bytes) {
  auto buffer = SymmetricBuffer::Allocate(bytes);
  EXPECT_TRUE(buffer.ok()) << buffer.status().ToString();
  return buffer.ok() ? *std::move(buffer) : SymmetricBuffer();
}

// Long enough for a thread to be wrong in.
void Pause() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

CollectiveCall GatherOf(const void* input, void* output) {
  return {.collective = Collective::kAllGather,
          .input = input,
          .output = output,
          .count = kCount,
          .type = DataType::kInt32};
}

// Rank 0 starts `earlier` calls on ordinary memory and one on a symmetric
// buffer, drops that buffer in another thread, and only then lets rank 1 call.
void ExpectThatTheDestructorWaits(int earlier) {
  std::promise<void> may_call;
  auto called = may_call.get_future();
  RunWorld({.ranks = 2}, [&](Communicator& comm) {
    std::vector<int32_t> ordinary(kCount, comm.rank());
    std::vector<int32_t> output(2 * kCount, -1);
    if (comm.rank() == 1) called.wait();
    std::vector<Request> requests;
    for (int i = 0; i < earlier; ++i) {
      auto request = comm.Start(GatherOf(ordinary.data(), output.data()));
      ASSERT_TRUE(request.ok());
      requests.push_back(*std::move(request));
    }
    SymmetricBuffer buffer = Allocated(kCount * sizeof(int32_t));
    auto* const values = static_cast<int32_t*>(buffer.data());
    std::iota(values, values + kCount, 1000 * comm.rank());
    auto last = comm.Start(GatherOf(values, output.data()));
    ASSERT_TRUE(last.ok());
    std::atomic<bool> gone{false};
    std::thread owner([&] {
      { const SymmetricBuffer dropped = std::move(buffer); }
      gone = true;
    });
    if (comm.rank() == 0) {
      Pause();
      EXPECT_FALSE(gone) << "freed under a call that was started";
      may_call.set_value();
    }
    for (Request& request : requests) EXPECT_TRUE(request.Wait().ok());
    const Status status = last->Wait();
    EXPECT_TRUE(status.ok()) << status.ToString();
    owner.join();
    for (size_t i = 0; i < 2 * kCount; ++i) {
      const size_t rank = i / kCount;
      ASSERT_EQ(output[i], static_cast<int32_t>(1000 * rank + i % kCount));
    }
  });
}

TEST(SymmetricBufferTest, TheDestructorWaitsForTheRunningCall) {
  ExpectThatTheDestructorWaits(0);
}

TEST(SymmetricBufferTest, TheDestructorWaitsForCallsThatAreNotYetNextInLine) {
  ExpectThatTheDestructorWaits(3);
}

// Nobody else waits for the call: the destructor itself moves it forward.
TEST(SymmetricBufferTest, TheDestructorEndsACallThatNobodyWaitsFor) {
  RunWorld({.ranks = 2}, [&](Communicator& comm) {
    std::vector<int32_t> output(2 * kCount, -1);
    Request request;
    {
      const SymmetricBuffer buffer = Allocated(kCount * sizeof(int32_t));
      auto started = comm.Start(GatherOf(buffer.data(), output.data()));
      ASSERT_TRUE(started.ok());
      request = *std::move(started);
    }
    EXPECT_TRUE(request.Peek());
    EXPECT_EQ(std::count(output.begin(), output.end(), 0),
              static_cast<ptrdiff_t>(2 * kCount));
    EXPECT_TRUE(comm.Barrier().ok());  // rank 0 may have been slower to leave
  });
}

TEST(SymmetricBufferTest, FreeingGivesUpAfterItsTimeAndFreesNothing) {
  std::promise<void> may_call;
  auto called = may_call.get_future();
  RunWorld({.ranks = 2}, [&](Communicator& comm) {
    std::vector<int32_t> output(2 * kCount, -1);
    const SymmetricBuffer buffer = Allocated(kCount * sizeof(int32_t));
    if (comm.rank() == 1) called.wait();
    auto request = comm.Start(GatherOf(buffer.data(), output.data()));
    ASSERT_TRUE(request.ok());
    if (comm.rank() == 0) {
      const Status status = FreeSymmetric(buffer.data(), 20);
      EXPECT_EQ(status.code(), Code::kTimeout);
      EXPECT_THAT(status.message(), testing::HasSubstr("20 ms"));
      may_call.set_value();
    }
    EXPECT_TRUE(request->Wait().ok());
  });
}

TEST(SymmetricBufferTest, MovingPassesTheMemoryOn) {
  SymmetricBuffer first = Allocated(100);
  void* const data = first.data();
  SymmetricBuffer second = std::move(first);
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_EQ(first.bytes(), 0u);
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(second.bytes(), 100u);
  second = Allocated(200);
  EXPECT_EQ(second.bytes(), 200u);
}

}  // namespace
}  // namespace rondo
