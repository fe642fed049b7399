// Connecting, refusing what is wrong, and ending in peace.
#include <thread>

#include "gmock/gmock.h"
#include "transports/contract/transport_contract_test.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

TEST_P(TransportContractTest, AddressesAreBoundedAndStable) {
  const std::vector<std::string> first = AddressesOf(group());
  EXPECT_EQ(first, AddressesOf(group()));
  for (const std::string& address : first) {
    EXPECT_GT(address.size(), 0u);
    EXPECT_LE(address.size(), 65536u);
  }
  EXPECT_FALSE(at(0).Describe().empty());
  EXPECT_TRUE(at(0).Supports(MemoryKind::kHost));
}

TEST_P(TransportContractTest, DamagedAddressesAreRefused) {
  TransportGroup fresh = MakeGroup();
  ASSERT_EQ(static_cast<int>(fresh.size()), ranks());
  const std::vector<std::string> good = AddressesOf(fresh);
  const std::string& whole = good[1];
  std::vector<std::string> damaged = {"",
                                      "x",
                                      std::string(100, '\0'),
                                      std::string(5000, '\xff'),
                                      whole + "x",
                                      whole.substr(0, whole.size() - 1),
                                      whole.substr(1)};
  for (size_t i = 0; i < whole.size(); i += 1 + whole.size() / 40) {
    damaged.push_back(whole);
    damaged.back()[i] ^= 0x10;
    damaged.push_back(whole.substr(0, i));
  }
  for (const std::string& address : damaged) {
    std::vector<std::string> addresses = good;
    addresses[1] = address;
    Status status = fresh[0]->Connect(0, addresses);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr("rank 1"));
  }
  EXPECT_TRUE(fresh[0]->Connect(0, good).ok()) << "good ones still work";
}

TEST_P(TransportContractTest, ConnectRefusesWrongRanksAndASecondCall) {
  TransportGroup fresh = MakeGroup();
  ASSERT_EQ(static_cast<int>(fresh.size()), ranks());
  const std::vector<std::string> good = AddressesOf(fresh);
  EXPECT_EQ(fresh[0]->Connect(ranks(), good).code(), Code::kInvalidArgument);
  EXPECT_EQ(fresh[0]->Connect(-1, good).code(), Code::kInvalidArgument);
  EXPECT_EQ(fresh[0]->Connect(0, {}).code(), Code::kInvalidArgument);
  EXPECT_TRUE(fresh[0]->Connect(0, good).ok());
  EXPECT_EQ(fresh[0]->Connect(0, good).code(), Code::kInvalidUsage);
}

TEST_P(TransportContractTest, TransfersBeforeConnectAreRefused) {
  TransportGroup fresh = MakeGroup();
  ASSERT_EQ(static_cast<int>(fresh.size()), ranks());
  char byte = 0;
  Transfer* send = NewTransfer();
  fresh[0]->Send(1, 0, 0, {&byte, 1}, send);
  ASSERT_TRUE(send->done());
  EXPECT_EQ(send->status().code(), Code::kInvalidUsage);
  EXPECT_EQ(fresh[0]->Progress(), 0);
}

TEST_P(TransportContractTest, WrongArgumentsEndTheTransferWithTheReason) {
  char byte = 0;
  const auto refusal = [&](int peer, int lane, uint64_t tag,
                           MutableBuffer buffer) {
    Transfer* send = NewTransfer();
    Transfer* receive = NewTransfer();
    at(0).Send(peer, lane, tag, {buffer.data, buffer.bytes, buffer.kind}, send);
    at(0).Receive(peer, lane, tag, buffer, receive);
    EXPECT_TRUE(send->done() && receive->done());
    EXPECT_EQ(send->status().code(), receive->status().code());
    return receive->status().code();
  };
  EXPECT_EQ(refusal(0, 0, 0, {&byte, 1}), Code::kInvalidArgument);
  EXPECT_EQ(refusal(ranks(), 0, 0, {&byte, 1}), Code::kInvalidArgument);
  EXPECT_EQ(refusal(-1, 0, 0, {&byte, 1}), Code::kInvalidArgument);
  EXPECT_EQ(refusal(1, lanes(), 0, {&byte, 1}), Code::kInvalidArgument);
  EXPECT_EQ(refusal(1, -1, 0, {&byte, 1}), Code::kInvalidArgument);
  EXPECT_EQ(refusal(1, 0, kMaxTag + 1, {&byte, 1}), Code::kInvalidArgument);
  EXPECT_EQ(refusal(1, 0, 0, {nullptr, 1}), Code::kInvalidArgument);
  if (!at(0).Supports(MemoryKind::kCuda)) {
    EXPECT_EQ(refusal(1, 0, 0, {&byte, 1, MemoryKind::kCuda}),
              Code::kNotSupported);
  }
}

TEST_P(TransportContractTest, DisconnectInPeaceAtDifferentTimes) {
  // Rank 0 sends and leaves; the others receive late and still get everything.
  constexpr size_t kSizes[] = {10, 5000, 300000};
  for (int peer = 1; peer < ranks(); ++peer) {
    for (size_t bytes : kSizes) {
      for (int lane = 0; lane < lanes(); ++lane) {
        Send(0, peer, lane, bytes, NewPattern(bytes, peer));
      }
    }
  }
  std::vector<Buffer*> received;
  std::vector<Transfer*> receives;
  for (int peer = 1; peer < ranks(); ++peer) {
    for (size_t bytes : kSizes) received.push_back(&NewBuffer(bytes));
  }
  receives.resize(received.size() * lanes());
  for (Transfer*& receive : receives) receive = NewTransfer();
  std::vector<Status> outcomes(ranks());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks(); ++rank) {
    threads.emplace_back([&, rank] {
      if (rank > 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20 * rank));
        for (size_t i = 0; i < std::size(kSizes) * lanes(); ++i) {
          const size_t size_index = i / lanes();
          Buffer& into = *received[(rank - 1) * std::size(kSizes) + size_index];
          at(rank).Receive(
              0, i % lanes(), kSizes[size_index], {into.data(), into.size()},
              receives[(rank - 1) * std::size(kSizes) * lanes() + i]);
        }
      }
      outcomes[rank] = at(rank).Disconnect(Deadline::AfterMs(15000));
      if (rank == 0) group()[0].reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& outcome : outcomes) {
    EXPECT_TRUE(outcome.ok()) << outcome.ToString();
  }
  for (Transfer* receive : receives) {
    ASSERT_TRUE(receive->done());
    EXPECT_TRUE(receive->status().ok()) << receive->status().ToString();
  }
  for (size_t i = 0; i < received.size(); ++i) {
    EXPECT_TRUE(*received[i] ==
                Pattern(received[i]->size(), 1 + i / std::size(kSizes)));
  }
}

TEST_P(TransportContractTest, DisconnectNamesTheRankThatDoesNotCome) {
  Buffer& received = NewBuffer(10);
  Receive(1, 0, 0, 1, received);
  Send(0, 1, 0, 1, NewPattern(10, 1));
  ASSERT_TRUE(AwaitAll());
  Status status = at(0).Disconnect(Deadline::AfterMs(50));
  EXPECT_EQ(status.code(), Code::kTimeout);
  EXPECT_THAT(status.message(), HasSubstr("rank 1"));
}

TEST_P(TransportContractTest, DisconnectWithoutTrafficIsImmediate) {
  EXPECT_TRUE(at(0).Disconnect(Deadline::AfterMs(10000)).ok());
}

}  // namespace
}  // namespace rondo
