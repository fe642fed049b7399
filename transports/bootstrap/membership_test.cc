#include "transports/bootstrap/membership.h"

#include <gtest/gtest.h>

#include <map>

namespace rondo {
namespace {

using Outgoing = Membership::Outgoing;

Membership Joined(int world_size) {
  Membership membership(world_size);
  for (int rank = 0; rank < world_size; ++rank) {
    EXPECT_TRUE(membership.Join(rank).ok());
  }
  return membership;
}

ContributeMessage Part(uint64_t call, std::string_view blob) {
  return {call, CallKind::kAllGather, blob};
}

// The failure that each rank was told.
std::map<int, std::string> Failures(Membership* membership) {
  std::map<int, std::string> out;
  for (const Outgoing& message : membership->TakeOutgoing()) {
    if (message.type != MessageType::kFailure) continue;
    out[message.rank] = ErrorMessage::Decode(*message.payload)->error.message();
  }
  return out;
}

TEST(MembershipTest, CallCompletesWithTheLastPart) {
  Membership membership = Joined(3);
  membership.Contribute(2, Part(0, "c"));
  membership.Contribute(0, Part(0, "a"));
  EXPECT_TRUE(membership.TakeOutgoing().empty());
  membership.Contribute(1, Part(0, "b"));
  const auto messages = membership.TakeOutgoing();
  ASSERT_EQ(messages.size(), 3u);
  for (const Outgoing& message : messages) {
    const auto gathered = GatheredMessage::Decode(*message.payload);
    ASSERT_TRUE(gathered.ok());
    EXPECT_EQ(gathered->blobs, (std::vector<std::string_view>{"a", "b", "c"}));
  }
}

TEST(MembershipTest, LargePartsAreSplitIntoMessagesInOrder) {
  constexpr int kRanks = 7;
  Membership membership = Joined(kRanks);
  const std::string blob(100000, 'x');
  for (int rank = 0; rank < kRanks; ++rank) {
    membership.Contribute(rank, Part(0, blob));
  }
  int next = 0, messages = 0;
  for (const Outgoing& message : membership.TakeOutgoing()) {
    if (message.rank != 4) continue;
    const auto gathered = GatheredMessage::Decode(*message.payload);
    EXPECT_EQ(gathered->first_rank, next);
    next += static_cast<int>(gathered->blobs.size());
    ++messages;
  }
  EXPECT_EQ(next, kRanks);
  EXPECT_EQ(messages, 3);
}

TEST(MembershipTest, DeathIsToldToEverybodyOnce) {
  Membership membership = Joined(3);
  membership.Die(1, "test");
  const auto failures = Failures(&membership);
  EXPECT_EQ(failures.at(0), "rank 1 died: test");
  EXPECT_EQ(failures.at(2), "rank 1 died: test");
  membership.Die(2, "later");
  EXPECT_TRUE(membership.TakeOutgoing().empty());
  EXPECT_EQ(membership.failure().message(), "rank 1 died: test");
}

TEST(MembershipTest, LateJoinerLearnsOfAnEarlierFailure) {
  Membership membership(3);
  ASSERT_TRUE(membership.Join(0).ok());
  membership.Die(0, "test");
  membership.TakeOutgoing();
  ASSERT_TRUE(membership.Join(2).ok());
  EXPECT_EQ(Failures(&membership).at(2), "rank 0 died: test");
}

TEST(MembershipTest, TheReporterIsNotToldItsOwnReport) {
  Membership membership = Joined(2);
  membership.Report(0, Status(Code::kSystem, "disk"));
  const auto failures = Failures(&membership);
  EXPECT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures.at(1), "rank 0 reported: disk");
}

TEST(MembershipTest, AfterGoodbyeARankCanNeitherDieNorReturn) {
  Membership membership = Joined(2);
  membership.Leave(1);
  membership.Die(1, "its connection closed");
  EXPECT_TRUE(membership.failure().ok());
  EXPECT_EQ(membership.Present(), std::vector<int>{0});
  const Status back = membership.Join(1);
  EXPECT_NE(back.message().find("and left"), std::string::npos);
}

TEST(MembershipTest, ARankThatGaveItsPartMayLeaveBeforeTheCallEnds) {
  Membership membership = Joined(2);
  membership.Contribute(1, Part(0, "b"));
  membership.Leave(1);
  membership.Contribute(0, Part(0, "a"));
  const auto messages = membership.TakeOutgoing();
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].type, MessageType::kLeft);
  EXPECT_EQ(messages[1].type, MessageType::kGathered);
}

TEST(MembershipTest, EveryoneElseLearnsWhoLeftAlsoThoseWhoJoinLater) {
  Membership membership(3);
  ASSERT_TRUE(membership.Join(0).ok());
  ASSERT_TRUE(membership.Join(1).ok());
  membership.Leave(1);
  ASSERT_TRUE(membership.Join(2).ok());
  const auto messages = membership.TakeOutgoing();
  ASSERT_EQ(messages.size(), 2u);
  for (size_t i = 0; i < messages.size(); ++i) {
    EXPECT_EQ(messages[i].rank, i == 0 ? 0 : 2);
    EXPECT_EQ(messages[i].type, MessageType::kLeft);
    EXPECT_EQ(*DecodeRank(*messages[i].payload), 1);
  }
}

TEST(MembershipTest, WrongCallNumberIsADeath) {
  Membership membership = Joined(2);
  membership.Contribute(1, Part(5, "b"));
  EXPECT_EQ(membership.failure().code(), Code::kRemoteDead);
  EXPECT_NE(membership.failure().message().find("rank 1"), std::string::npos);
}

TEST(MembershipTest, SecondPartOfOneCallIsADeath) {
  Membership membership = Joined(2);
  membership.Contribute(1, Part(0, "b"));
  membership.Contribute(1, Part(0, "b"));
  EXPECT_EQ(membership.failure().code(), Code::kRemoteDead);
}

TEST(MembershipTest, AbsentRanksAreNamedByWhatBecameOfThem) {
  Membership membership(6);
  for (int rank : {0, 1, 2, 5}) ASSERT_TRUE(membership.Join(rank).ok());
  membership.Contribute(0, Part(0, ""));
  membership.Leave(5);
  membership.TakeOutgoing();
  membership.AskAbsent(0, 0);
  const auto messages = membership.TakeOutgoing();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(CallMessage::Decode(*messages[0].payload)->text,
            "have not joined: ranks 3 and 4; have joined but not called it: "
            "ranks 1 and 2; have left: rank 5");
}

}  // namespace
}  // namespace rondo
