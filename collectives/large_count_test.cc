// Counts above 2^31 elements, with real memory: more than any int can hold.

#include <cstdint>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/testing/world.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

TEST(LargeCountTest, BroadcastOfMoreThanTwoToTheThirtyOneElementsIsExact) {
  constexpr size_t kCount = (size_t{1} << 31) + 4097;
  const auto expected = [](size_t i) {
    return static_cast<uint8_t>((i * 2654435761u) >> 24);
  };
  RunWorld({.ranks = 2, .settings = {{"RONDO_CHUNK_BYTES", "4Mi"}}},
           [&](Communicator& comm) {
             std::vector<uint8_t> data(kCount);
             if (comm.rank() == 0) {
               for (size_t i = 0; i < kCount; ++i) data[i] = expected(i);
             }
             const Status status = comm.Broadcast(data.data(), data.data(),
                                                  kCount, DataType::kUint8, 0);
             ASSERT_TRUE(status.ok()) << status.ToString();
             size_t wrong = 0;
             for (size_t i = 0; i < kCount; ++i)
               wrong += data[i] != expected(i);
             EXPECT_EQ(wrong, 0u);
           });
}

}  // namespace
}  // namespace rondo
