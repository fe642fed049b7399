// What FailPeer and FailAll end, and what they leave alone.
#include "gmock/gmock.h"
#include "transports/contract/transport_contract_test.h"

namespace rondo {
namespace {

constexpr size_t kLarge = 4 << 20;

Status Dead() { return Status(Code::kRemoteDead, "rank 1 was declared dead"); }

void ExpectEndedWith(const Transfer& transfer, const Status& why) {
  ASSERT_TRUE(transfer.done());
  EXPECT_EQ(transfer.status().code(), why.code());
  EXPECT_EQ(transfer.status().message(), why.message());
}

TEST_P(TransportContractTest, FailPeerEndsPostedReceivesAtOnce) {
  std::vector<Transfer*> posted;
  for (int lane = 0; lane < lanes(); ++lane) {
    posted.push_back(Receive(0, 1, lane, 1, NewBuffer(100)));
    posted.push_back(Receive(0, 1, lane, 2, NewBuffer(kLarge)));
  }
  DriveFor(2);
  at(0).FailPeer(1, Dead());
  for (Transfer* transfer : posted) ExpectEndedWith(*transfer, Dead());
}

TEST_P(TransportContractTest, FailPeerEndsSendsThatNobodyReceives) {
  std::vector<Transfer*> posted;
  for (int lane = 0; lane < lanes(); ++lane) {
    posted.push_back(Send(0, 1, lane, 1, NewPattern(kLarge, 1)));
  }
  DriveFor(2);
  ASSERT_TRUE(posted[0]->active()) << "a large send must wait for its receiver";
  at(0).FailPeer(1, Dead());
  for (Transfer* transfer : posted) ExpectEndedWith(*transfer, Dead());
}

TEST_P(TransportContractTest, FailPeerEndsTransfersBeforeAnyProgress) {
  Transfer* receive = Receive(0, 1, 0, 1, NewBuffer(100));
  Transfer* send = Send(0, 1, 0, 2, NewPattern(kLarge, 1));
  at(0).FailPeer(1, Dead());
  ExpectEndedWith(*receive, Dead());
  ExpectEndedWith(*send, Dead());
}

TEST_P(TransportContractTest, FailPeerEndsTransfersHalfWay) {
  for (int i = 0; i < 8; ++i) {
    Receive(0, 1, 0, i, NewBuffer(kLarge));
    Send(1, 0, 0, i, NewPattern(kLarge, i));
    Receive(1, 0, 0, i, NewBuffer(kLarge));
    Send(0, 1, 0, i, NewPattern(kLarge, i));
  }
  for (int i = 0; i < 20; ++i) {
    at(0).Progress();
    at(1).Progress();
  }
  at(0).FailPeer(1, Dead());
  at(1).FailPeer(0, Dead());
  EXPECT_TRUE(AwaitAll());
}

TEST_P(TransportContractTest, TransfersAfterFailPeerEndWithTheSameStatus) {
  at(0).FailPeer(1, Dead());
  at(0).FailPeer(1, Status(Code::kTimeout, "a later reason does not count"));
  ExpectEndedWith(*Receive(0, 1, 0, 1, NewBuffer(10)), Dead());
  ExpectEndedWith(*Send(0, 1, 0, 1, NewPattern(10, 1)), Dead());
}

TEST_P(TransportContractTest, FailPeerLeavesOtherPeersAlone) {
  if (ranks() < 3) return;  // groups of three are instantiated as well
  Buffer& received = NewBuffer(kLarge);
  Transfer* kept = Receive(0, 2, 0, 1, received);
  Transfer* ended = Receive(0, 1, 0, 1, NewBuffer(kLarge));
  at(0).FailPeer(1, Dead());
  ExpectEndedWith(*ended, Dead());
  EXPECT_TRUE(kept->active());
  Send(2, 0, 0, 1, NewPattern(kLarge, 6));
  ASSERT_TRUE(AwaitAll());
  EXPECT_TRUE(kept->status().ok()) << kept->status().ToString();
  EXPECT_TRUE(received == Pattern(kLarge, 6));
}

TEST_P(TransportContractTest, FailAllEndsEverythingPresentAndFuture) {
  const Status why(Code::kAborted, "abort was called");
  std::vector<Transfer*> posted;
  for (int peer = 1; peer < ranks(); ++peer) {
    posted.push_back(Receive(0, peer, 0, 1, NewBuffer(kLarge)));
    posted.push_back(Send(0, peer, 0, 1, NewPattern(kLarge, 1)));
  }
  DriveFor(2);
  at(0).FailAll(why);
  for (Transfer* transfer : posted) ExpectEndedWith(*transfer, why);
  ExpectEndedWith(*Receive(0, 1, 0, 2, NewBuffer(10)), why);
  ExpectEndedWith(*Send(0, 1, 0, 2, NewPattern(10, 1)), why);
  at(0).Progress();
  at(0).FailAll(why);
}

TEST_P(TransportContractTest, DestructionAfterFailAllIsClean) {
  const Status why(Code::kAborted, "abort was called");
  for (int rank = 0; rank < ranks(); ++rank) {
    for (int peer = 0; peer < ranks(); ++peer) {
      if (peer == rank) continue;
      Send(rank, peer, 0, 1, NewPattern(kLarge, 1));
      Send(rank, peer, 0, 2, NewPattern(100, 1));
      Receive(rank, peer, 0, 1, NewBuffer(kLarge));
      Receive(rank, peer, 0, 3, NewBuffer(100));
    }
  }
  DriveFor(1);
  for (auto& transport : group()) {
    transport->FailAll(why);
    transport.reset();
  }
}

}  // namespace
}  // namespace rondo
