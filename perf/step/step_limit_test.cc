#include "perf/step/step_limit.h"

#include "collectives/testing/world.h"
#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

TEST(StepLimitTest, KeepsLoopsThatRunAndCountsTheirBytes) {
  RunWorld({.ranks = 2}, [](Communicator& comm) {
    const auto limit = StepLimit::Create(
        &comm,
        {.shard_count = 2048, .gradient_bytes = 4, .parameter_bytes = 2});
    ASSERT_TRUE(limit.ok()) << limit.status().ToString();
    EXPECT_EQ((*limit)->limit_loops().size(), 2u);
    EXPECT_EQ((*limit)->copy_loops().size(), 2u);
    for (const auto* loops :
         {&(*limit)->limit_loops(), &(*limit)->copy_loops()}) {
      for (const Contender& loop : *loops) {
        EXPECT_NE(loop.name, "");
        EXPECT_TRUE(loop.call().ok());
      }
    }
    // On each of two ranks: 2 gradients of 4, 3 states read and written, 2
    // parameters of 2; a copy reads and writes 4.
    EXPECT_EQ((*limit)->limit_bytes(), 2u * 2048 * (8 + 24 + 4));
    EXPECT_EQ((*limit)->copy_bytes(), 2u * 2048 * 8);
  });
}

}  // namespace
}  // namespace rondo::perf
