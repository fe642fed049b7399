#include "perf/step/turns.h"

#include <atomic>
#include <thread>

#include "collectives/testing/world.h"
#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

TEST(TurnTimesTest, MedianIsTheMiddle) {
  EXPECT_DOUBLE_EQ((TurnTimes{{9, 1, 2}}.median_ms()), 2);
  EXPECT_DOUBLE_EQ((TurnTimes{{9, 1, 2, 4}}.median_ms()), 3);
  EXPECT_EQ(TurnTimes{}.median_ms(), 0);
}

TEST(TakeTurnsTest, EveryContenderRunsInEveryRound) {
  RunWorld({.ranks = 2}, [](Communicator& comm) {
    std::string order;
    const auto slow = [&](char name) {
      return [&order, name] {
        order += name;
        std::this_thread::sleep_for(std::chrono::milliseconds(6));
        return Status::Ok();
      };
    };
    const auto times = TakeTurns(&comm, {.warmup_rounds = 1, .rounds = 3},
                                 {{"a", slow('a')}, {"b", slow('b')}});
    ASSERT_TRUE(times.ok()) << times.status().ToString();
    EXPECT_EQ(order, "abababab");
    EXPECT_EQ((*times)[1].round_ms.size(), 3u);
    EXPECT_GE((*times)[0].median_ms(), 6);
  });
}

TEST(TakeTurnsTest, TheSlowestRankCounts) {
  RunWorld({.ranks = 2}, [](Communicator& comm) {
    const auto call = [&] {
      if (comm.rank() == 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      return Status::Ok();
    };
    const auto times =
        TakeTurns(&comm, {.warmup_rounds = 0, .rounds = 1}, {{"a", call}});
    ASSERT_TRUE(times.ok()) << times.status().ToString();
    EXPECT_GE((*times)[0].median_ms(), 20);  // on both ranks
  });
}

TEST(TakeTurnsTest, ShortCallsAreRepeatedTheSameOnAllRanks) {
  std::atomic<int> calls[2] = {};
  RunWorld({.ranks = 2}, [&](Communicator& comm) {
    const auto call = [&] {
      ++calls[comm.rank()];
      return Status::Ok();
    };
    ASSERT_TRUE(
        TakeTurns(&comm, {.warmup_rounds = 1, .rounds = 2}, {{"a", call}})
            .ok());
  });
  EXPECT_GT(calls[0], 3);
  EXPECT_EQ(calls[0], calls[1]);
}

TEST(TakeTurnsTest, AnErrorNamesTheContender) {
  RunWorld({.ranks = 1}, [](Communicator& comm) {
    const auto times = TakeTurns(
        &comm, {}, {{"broken", [] { return InvalidArgument("no"); }}});
    EXPECT_NE(times.status().message().find("broken"), std::string::npos);
  });
}

}  // namespace
}  // namespace rondo::perf
