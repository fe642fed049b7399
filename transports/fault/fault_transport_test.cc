#include "transports/fault/fault_transport.h"

#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transports/base/clock.h"
#include "transports/contract/transport_contract_test.h"
#include "transports/inprocess/inprocess_transport.h"
#include "transports/ucx/ucx_transport.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

enum class Below { kInProcess, kUcx };

Result<TransportGroup> MakeGroupBelow(Below below, int ranks, int lanes) {
  TransportGroup group;
  RONDO_ASSIGN_OR_RETURN(auto network, InProcessNetwork::Create(ranks, lanes));
  for (int rank = 0; rank < ranks; ++rank) {
    Result<std::unique_ptr<Transport>> made =
        below == Below::kInProcess ? network->Endpoint(rank)
                                   : CreateUcxTransport(UcxOptions());
    if (!made.ok()) return made.status();
    group.push_back(*std::move(made));
  }
  return group;
}

FaultOptions ForThreads() {
  FaultOptions options;
  options.death = FaultOptions::Death::kFailOperations;
  return options;
}

Result<TransportGroup> MakeFaulty(Below below, const std::string& text,
                                  int ranks, int lanes) {
  RONDO_ASSIGN_OR_RETURN(FaultPlan plan, ParseFaultPlan(text));
  RONDO_ASSIGN_OR_RETURN(TransportGroup group,
                         MakeGroupBelow(below, ranks, lanes));
  for (auto& transport : group) {
    transport = WrapWithFaults(std::move(transport), plan, ForThreads());
  }
  return group;
}

ContractGroup Group(const std::string& name, int ranks, int lanes, Below below,
                    const std::string& text) {
  return {name, ranks, lanes, [below, text](int ranks, int lanes) {
            return MakeFaulty(below, text, ranks, lanes);
          }};
}

INSTANTIATE_TEST_SUITE_P(
    Fault, TransportContractTest,
    ::testing::Values(
        Group("no_faults", 2, 1, Below::kInProcess, ""),
        Group("delay", 2, 1, Below::kInProcess, "delay:1:300"),
        Group("reorder", 3, 2, Below::kInProcess, "delay:1:100,reorder:2:300"),
        Group("reorder_over_ucx", 2, 1, Below::kUcx, "reorder:3:300")),
    ContractGroupName);

// Two ranks in one process, driven by the test.
class FaultTest : public ::testing::Test {
 protected:
  void Make(const std::string& text, FaultOptions options = ForThreads()) {
    plan_ = *ParseFaultPlan(text);
    group_ = *MakeGroupBelow(Below::kInProcess, 2, 2);
    std::vector<std::string> addresses = {*group_[0]->Address(),
                                          *group_[1]->Address()};
    for (int rank : {0, 1}) {
      group_[rank] = WrapWithFaults(std::move(group_[rank]), plan_, options);
      ASSERT_TRUE(group_[rank]->Connect(rank, addresses).ok());
    }
  }

  void DriveFor(int duration_ms) {
    const Deadline deadline = Deadline::AfterMs(duration_ms);
    do {
      for (auto& transport : group_) transport->Progress();
    } while (!deadline.expired());
  }

  // Sends `count` messages of zeros, `bytes` each; returns what arrived.
  std::vector<std::vector<unsigned char>> Exchange(int count, size_t bytes,
                                                   uint64_t first_tag = 0) {
    std::vector<std::vector<unsigned char>> received(count);
    const std::vector<unsigned char> zeros(bytes);
    std::deque<Transfer> transfers(2 * count);
    for (int i = 0; i < count; ++i) {
      received[i].assign(bytes, 0);
      group_[1]->Receive(0, 0, first_tag + i, {received[i].data(), bytes},
                         &transfers[2 * i]);
      group_[0]->Send(1, 0, first_tag + i, {zeros.data(), bytes},
                      &transfers[2 * i + 1]);
    }
    DriveFor(0);
    for (Transfer& transfer : transfers) {
      EXPECT_TRUE(transfer.done() && transfer.status().ok());
    }
    return received;
  }

  static int SetBits(const std::vector<unsigned char>& bytes) {
    int bits = 0;
    for (unsigned char byte : bytes) bits += std::popcount(byte);
    return bits;
  }

  FaultPlan plan_;
  TransportGroup group_;
};

TEST_F(FaultTest, CorruptFlipsOneBitInOneOfFourMessages) {
  for (int seed = 0; seed < 20; ++seed) {
    Make("corrupt:" + std::to_string(seed));
    int corrupted = 0;
    for (const auto& message : Exchange(40, 1 + 13 * seed)) {
      const int bits = SetBits(message);
      EXPECT_LE(bits, 1);
      corrupted += bits;
    }
    EXPECT_EQ(corrupted, 10) << "seed " << seed;
    group_.clear();
  }
}

TEST_F(FaultTest, CorruptHitsAmongTheFirstFourMessagesWithEverySeed) {
  for (int seed = 0; seed < 50; ++seed) {
    Make("corrupt:" + std::to_string(seed));
    int bits = 0;
    for (const auto& message : Exchange(4, 100)) bits += SetBits(message);
    EXPECT_EQ(bits, 1) << "seed " << seed;
    group_.clear();
  }
}

TEST_F(FaultTest, EqualSeedsCorruptEqually) {
  Make("corrupt:7:0.5");
  const auto first = Exchange(20, 64);
  group_.clear();
  Make("corrupt:7:0.5");
  EXPECT_EQ(first, Exchange(20, 64));
  group_.clear();
  Make("corrupt:8:0.5");
  EXPECT_NE(first, Exchange(20, 64));
}

TEST_F(FaultTest, WithoutCorruptNothingIsCorrupted) {
  Make("delay:1:1");
  std::vector<unsigned char> zeros(100), received(100);
  Transfer in, out;
  group_[1]->Receive(0, 0, 1, {received.data(), 100}, &in);
  group_[0]->Send(1, 0, 1, {zeros.data(), 100}, &out);
  DriveFor(20);
  ASSERT_TRUE(in.done());
  EXPECT_EQ(SetBits(received), 0);
}

TEST_F(FaultTest, CorruptLeavesMessagesAloneThatAreNoPayload) {
  FaultOptions options = ForThreads();
  options.is_payload = [](uint64_t tag, size_t) { return tag >= 100; };
  Make("corrupt:1:1", options);
  for (const auto& message : Exchange(5, 10)) EXPECT_EQ(SetBits(message), 0);
  for (const auto& message : Exchange(5, 10, /*first_tag=*/100)) {
    EXPECT_EQ(SetBits(message), 1);
  }
}

TEST_F(FaultTest, DropTellsTheSenderAllIsWellAndNothingArrives) {
  Make("drop:1:1");
  char byte = 0, received = 7;
  Transfer in, out;
  group_[1]->Receive(0, 0, 1, {&received, 1}, &in);
  group_[0]->Send(1, 0, 1, {&byte, 1}, &out);
  DriveFor(5);
  ASSERT_TRUE(out.done());
  EXPECT_TRUE(out.status().ok());
  EXPECT_TRUE(in.active());
  EXPECT_EQ(received, 7);
  group_[1]->FailAll(Status(Code::kTimeout, "the deadline passed"));
  EXPECT_EQ(in.status().code(), Code::kTimeout);
}

TEST_F(FaultTest, DropSparesTheOtherMessages) {
  Make("drop:3");
  constexpr int kCount = 40;
  char byte = 0;
  std::vector<char> received(kCount);
  std::deque<Transfer> in(kCount), out(kCount);
  for (int i = 0; i < kCount; ++i) {
    group_[1]->Receive(0, 0, i, {&received[i], 1}, &in[i]);
    group_[0]->Send(1, 0, i, {&byte, 1}, &out[i]);
  }
  DriveFor(0);
  int arrived = 0;
  for (Transfer& transfer : in) arrived += transfer.done();
  EXPECT_EQ(arrived, 30);
  group_[1]->FailAll(Status(Code::kTimeout, "the deadline passed"));
}

TEST_F(FaultTest, ReorderLetsMessagesOvertake) {
  // In the order of arrival, told by messages of different tags.
  Make("reorder:1:20000");
  constexpr int kCount = 12;
  char byte = 0;
  std::vector<char> received(kCount);
  std::deque<Transfer> in(kCount), out(kCount);
  for (int i = 0; i < kCount; ++i) {
    group_[1]->Receive(0, 0, i, {&received[i], 1}, &in[i]);
    group_[0]->Send(1, 0, i, {&byte, 1}, &out[i]);
  }
  std::vector<int> arrivals;
  std::vector<bool> seen(kCount);
  const Deadline deadline = Deadline::AfterMs(10000);
  while (arrivals.size() < kCount && !deadline.expired()) {
    DriveFor(0);
    for (int i = 0; i < kCount; ++i) {
      if (!in[i].done() || seen[i]) continue;
      seen[i] = true;
      arrivals.push_back(i);
    }
  }
  ASSERT_EQ(arrivals.size(), size_t{kCount});
  EXPECT_FALSE(std::is_sorted(arrivals.begin(), arrivals.end()));
}

TEST_F(FaultTest, TheRankThatDiesFailsAndItsPeerHearsNothing) {
  Make("die:0:2");
  Exchange(2, 10);
  char byte = 0;
  Transfer late, waiting;
  group_[1]->Receive(0, 0, 9, {&byte, 1}, &waiting);
  group_[0]->Send(1, 0, 9, {&byte, 1}, &late);
  ASSERT_TRUE(late.done());
  EXPECT_EQ(late.status().code(), Code::kAborted);
  EXPECT_THAT(late.status().message(), HasSubstr("rank 0: died"));
  DriveFor(5);
  EXPECT_TRUE(waiting.active());
  group_[1]->FailAll(Status(Code::kTimeout, "the deadline passed"));
}

TEST_F(FaultTest, TheProcessOfTheRankThatDiesIsKilled) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    FaultOptions options;
    options.death = FaultOptions::Death::kKillProcess;
    Make("die:3:1", options);  // rank 3 of 2 is rank 1
    char byte = 0;
    Transfer out;
    group_[0]->Send(1, 0, 1, {&byte, 1}, &out);  // rank 0 does not die
    group_[0]->Send(1, 0, 1, {&byte, 1}, &out);
    group_[1]->Send(0, 0, 1, {&byte, 1}, &out);
    group_[1]->Progress();
    _exit(0);
  }
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  EXPECT_TRUE(WIFSIGNALED(how));
  EXPECT_EQ(WTERMSIG(how), SIGKILL);
}

}  // namespace
}  // namespace rondo
