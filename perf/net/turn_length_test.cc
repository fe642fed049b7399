// How long a turn is made, with and without stalls.
#include "perf/net/turn_length.h"

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

constexpr double kMs = 1e6;

TEST(TurnLengthTest, ScalesALongEnoughTrial) {
  const Trial trial = {.messages = 128, .took_ns = kMs, .usual_ns = kMs};
  EXPECT_EQ(MessagesOfTurn(trial, 4 * kMs, 16), 512);
}

TEST(TurnLengthTest, WantsALongerTrialOfAShortOne) {
  const Trial trial = {.messages = 16, .took_ns = kMs, .usual_ns = kMs};
  EXPECT_FALSE(MessagesOfTurn(trial, 50 * kMs, 16).has_value());
}

TEST(TurnLengthTest, DoesNotTakeOneStallForTheTimeOfEveryMessage) {
  // 16 messages of 26 us, and 40 ms in which nothing happened.
  const Trial first = {.messages = 16, .took_ns = 40.4 * kMs, .usual_ns = 4e5};
  EXPECT_FALSE(MessagesOfTurn(first, 50 * kMs, 16).has_value());
  const Trial last = {
      .messages = 1024, .took_ns = 66.6 * kMs, .usual_ns = 25.6 * kMs};
  EXPECT_EQ(MessagesOfTurn(last, 50 * kMs, 16), 2000);
}

TEST(TurnLengthTest, BoundsATurnThatAlwaysStalls) {
  const Trial trial = {.messages = 100, .took_ns = 4000 * kMs, .usual_ns = kMs};
  EXPECT_EQ(MessagesOfTurn(trial, 100 * kMs, 10), 10);
}

TEST(TurnLengthTest, KeepsTheFewestAndTheMost) {
  const Trial slow = {
      .messages = 16, .took_ns = 1000 * kMs, .usual_ns = 1000 * kMs};
  EXPECT_EQ(MessagesOfTurn(slow, 100 * kMs, 16), 16);
  // A clock that saw nothing pass.
  const Trial instant = {.messages = kMostMessages};
  EXPECT_EQ(MessagesOfTurn(instant, 100 * kMs, 16), kMostMessages);
}

}  // namespace
}  // namespace rondo::perf
