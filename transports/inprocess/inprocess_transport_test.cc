#include "transports/inprocess/inprocess_transport.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transports/base/clock.h"
#include "transports/contract/transport_contract_test.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

Result<TransportGroup> MakeInProcess(int ranks, int lanes) {
  RONDO_ASSIGN_OR_RETURN(auto network, InProcessNetwork::Create(ranks, lanes));
  TransportGroup group;
  for (int rank = 0; rank < ranks; ++rank) {
    RONDO_ASSIGN_OR_RETURN(auto endpoint, network->Endpoint(rank));
    group.push_back(std::move(endpoint));
  }
  return group;
}

INSTANTIATE_TEST_SUITE_P(
    InProcess, TransportContractTest,
    ::testing::Values(ContractGroup{"two_ranks_one_lane", 2, 1, MakeInProcess},
                      ContractGroup{"three_ranks_two_lanes", 3, 2,
                                    MakeInProcess}),
    ContractGroupName);

TEST(InProcessNetworkTest, RefusesSizesThatMakeNoSense) {
  EXPECT_EQ(InProcessNetwork::Create(0, 1).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(InProcessNetwork::Create(2, 0).status().code(),
            Code::kInvalidArgument);
  EXPECT_THAT(InProcessNetwork::Create(5000, 1).status().message(),
              HasSubstr("1 to 4096"));
}

TEST(InProcessNetworkTest, EachRankHasOneEndpoint) {
  auto network = *InProcessNetwork::Create(2, 1);
  EXPECT_TRUE(network->Endpoint(0).ok());
  EXPECT_EQ(network->Endpoint(0).status().code(), Code::kInvalidUsage);
  EXPECT_EQ(network->Endpoint(2).status().code(), Code::kInvalidArgument);
}

class LeavingRankTest : public ::testing::Test {
 protected:
  void SetUp() override {
    group_ = *MakeInProcess(2, 1);
    std::vector<std::string> addresses = {*group_[0]->Address(),
                                          *group_[1]->Address()};
    for (int rank : {0, 1}) {
      ASSERT_TRUE(group_[rank]->Connect(rank, addresses).ok());
    }
  }
  TransportGroup group_;
};

TEST_F(LeavingRankTest, WhatItSentIsStillDeliveredAndTheRestEndsWithItsName) {
  Transfer sent, delivered, missing, unread;
  const char word[] = "last";
  char received[sizeof word] = "";
  char nothing[4];
  std::vector<char> large(1 << 20);
  group_[1]->Send(0, 0, 1, {word, sizeof word}, &sent);
  group_[1].reset();
  group_[0]->Receive(1, 0, 1, {received, sizeof received}, &delivered);
  group_[0]->Receive(1, 0, 2, {nothing, sizeof nothing}, &missing);
  group_[0]->Send(1, 0, 3, {large.data(), large.size()}, &unread);
  group_[0]->Progress();
  ASSERT_TRUE(delivered.done() && missing.done() && unread.done());
  EXPECT_TRUE(delivered.status().ok());
  EXPECT_STREQ(received, word);
  EXPECT_EQ(missing.status().code(), Code::kRemoteDead);
  EXPECT_THAT(missing.status().message(), HasSubstr("rank 1"));
  EXPECT_EQ(unread.status().code(), Code::kRemoteDead);
}

TEST_F(LeavingRankTest, ItsUnreadBufferIsNotTouchedAfterwards) {
  Transfer sent, received;
  std::vector<char> large(1 << 20, 'x');
  std::vector<char> into(1 << 20, 'o');
  group_[1]->Send(0, 0, 1, {large.data(), large.size()}, &sent);
  group_[1]->FailAll(Status(Code::kAborted, "gone"));
  ASSERT_TRUE(sent.done());
  large.assign(large.size(), 'z');
  group_[0]->Receive(1, 0, 1, {into.data(), into.size()}, &received);
  for (int i = 0; i < 100; ++i) group_[0]->Progress();
  EXPECT_TRUE(received.active());
  EXPECT_EQ(into, std::vector<char>(into.size(), 'o'));
  group_[0]->FailAll(Status(Code::kAborted, "done"));
}

}  // namespace
}  // namespace rondo
