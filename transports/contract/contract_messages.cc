// What arrives, in which order, and what happens when sizes differ.
#include <algorithm>
#include <atomic>
#include <thread>

#include "gmock/gmock.h"
#include "transports/contract/transport_contract_test.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

constexpr size_t kSizes[] = {0,    1,     777,           4096,
                             8193, 70001, (1 << 20) + 3, 16 << 20};

TEST_P(TransportContractTest, MessagesOfEverySizeArriveUnchanged) {
  for (size_t bytes : kSizes) {
    Buffer& there = NewPattern(bytes, 1);
    Buffer& back = NewPattern(bytes, 2);
    Buffer& at_one = NewBuffer(bytes);
    Buffer& at_zero = NewBuffer(bytes);
    Transfer* results[] = {
        Receive(1, 0, 0, bytes, at_one), Receive(0, 1, 0, bytes, at_zero),
        Send(0, 1, 0, bytes, there), Send(1, 0, 0, bytes, back)};
    ASSERT_TRUE(AwaitAll()) << bytes << " bytes";
    for (Transfer* result : results) {
      EXPECT_TRUE(result->status().ok()) << result->status().ToString();
    }
    EXPECT_TRUE(at_one == there) << bytes << " bytes";
    EXPECT_TRUE(at_zero == back) << bytes << " bytes";
  }
}

TEST_P(TransportContractTest, ManyMessagesMayBeInFlight) {
  constexpr int kCount = 400;
  std::vector<Buffer*> received;
  for (int i = 0; i < kCount; ++i) {
    received.push_back(&NewBuffer(1000 + i * 37));
    Receive(1, 0, i % lanes(), i, *received.back());
  }
  for (int i = kCount - 1; i >= 0; --i) {
    Send(0, 1, i % lanes(), i, NewPattern(1000 + i * 37, i));
  }
  ASSERT_TRUE(AwaitAll());
  for (int i = 0; i < kCount; ++i) {
    EXPECT_TRUE(*received[i] == Pattern(1000 + i * 37, i)) << "message " << i;
  }
}

TEST_P(TransportContractTest, MessagesOfEqualTagsArriveInTheOrderOfSending) {
  // Small and large ones alternate: they take different ways inside.
  const auto bytes_of = [](int i) {
    return size_t{i % 3 == 1 ? 300000u : 64u};
  };
  constexpr int kCount = 24;
  std::vector<Buffer*> received;
  for (int i = 0; i < kCount / 2; ++i) {
    received.push_back(&NewBuffer(bytes_of(i)));
    Receive(1, 0, 0, 5, *received.back());
  }
  for (int i = 0; i < kCount; ++i) Send(0, 1, 0, 5, NewPattern(bytes_of(i), i));
  DriveFor(5);  // the second half finds its messages already here
  for (int i = kCount / 2; i < kCount; ++i) {
    received.push_back(&NewBuffer(bytes_of(i)));
    Receive(1, 0, 0, 5, *received.back());
  }
  ASSERT_TRUE(AwaitAll());
  for (int i = 0; i < kCount; ++i) {
    EXPECT_TRUE(*received[i] == Pattern(bytes_of(i), i)) << "message " << i;
  }
}

TEST_P(TransportContractTest, DifferentTagsMayBeReceivedInAnyOrder) {
  constexpr int kCount = 16;
  for (int i = 0; i < kCount; ++i) {
    Send(0, 1, 0, 100 + i, NewPattern(5000 * i, i));
  }
  DriveFor(5);
  for (int i = kCount - 1; i >= 0; --i) {
    Buffer& received = NewBuffer(5000 * i);
    Transfer* transfer = Receive(1, 0, 0, 100 + i, received);
    ASSERT_TRUE(AwaitUntil([&] { return transfer->done(); })) << "tag " << i;
    EXPECT_TRUE(transfer->status().ok()) << transfer->status().ToString();
    EXPECT_TRUE(received == Pattern(5000 * i, i)) << "tag " << i;
  }
  EXPECT_TRUE(AwaitAll());
}

TEST_P(TransportContractTest, LargestTagIsMatchedExactly) {
  Buffer& low = NewBuffer(8);
  Buffer& high = NewBuffer(8);
  Receive(1, 0, 0, 0, low);
  Receive(1, 0, 0, kMaxTag, high);
  Send(0, 1, 0, kMaxTag, NewPattern(8, 7));
  Send(0, 1, 0, 0, NewPattern(8, 8));
  ASSERT_TRUE(AwaitAll());
  EXPECT_EQ(high, Pattern(8, 7));
  EXPECT_EQ(low, Pattern(8, 8));
}

TEST_P(TransportContractTest, UnexpectedMessagesWaitForTheirReceive) {
  for (size_t bytes : kSizes) {
    Buffer& sent = NewPattern(bytes, 3);
    Send(0, 1, 0, 9, sent);
    DriveFor(2);
    Buffer& received = NewBuffer(bytes);
    Transfer* transfer = Receive(1, 0, 0, 9, received);
    ASSERT_TRUE(AwaitAll()) << bytes << " bytes";
    EXPECT_TRUE(transfer->status().ok()) << transfer->status().ToString();
    EXPECT_TRUE(received == sent) << bytes << " bytes";
  }
}

TEST_P(TransportContractTest, SizeMismatchIsAnErrorOnTheReceiver) {
  struct Case {
    size_t sent, expected;
  };
  for (Case sizes :
       {Case{10, 11}, Case{11, 10}, Case{0, 5}, Case{5, 0}, Case{100000, 100},
        Case{100, 100000}, Case{2000000, 1999999}, Case{1999999, 2000000}}) {
    for (bool posted_first : {true, false}) {
      Buffer& received = NewBuffer(sizes.expected + 64);
      Transfer* receive = NewTransfer();
      const auto post = [&] {
        at(1).Receive(0, 0, 3, {received.data(), sizes.expected}, receive);
      };
      if (posted_first) post();
      Send(0, 1, 0, 3, NewPattern(sizes.sent, 1));
      DriveFor(2);
      if (!posted_first) post();
      ASSERT_TRUE(AwaitAll()) << sizes.sent << " into " << sizes.expected;
      EXPECT_EQ(receive->status().code(), Code::kMismatch);
      const std::string& message = receive->status().message();
      EXPECT_THAT(message, HasSubstr("receive from rank 0"));
      EXPECT_THAT(message, HasSubstr(std::to_string(sizes.sent) + " bytes"));
      EXPECT_THAT(message, HasSubstr("exactly " +
                                     std::to_string(sizes.expected) + " were"));
      EXPECT_TRUE(std::all_of(received.begin() + sizes.expected, received.end(),
                              [](unsigned char byte) { return byte == 0; }))
          << "bytes were written past the buffer";
    }
  }
  Buffer& after = NewBuffer(20);
  Receive(1, 0, 0, 3, after);
  Send(0, 1, 0, 3, NewPattern(20, 4));
  ASSERT_TRUE(AwaitAll());
  EXPECT_EQ(after, Pattern(20, 4));
}

TEST_P(TransportContractTest, AllRanksExchangeOnAllLanesAtOnce) {
  // The same tag everywhere: only source and lane tell messages apart.
  struct Expected {
    Buffer* buffer;
    unsigned seed;
  };
  constexpr size_t kBytes = 20000;
  std::vector<Expected> received;
  for (int to = 0; to < ranks(); ++to) {
    for (int from = 0; from < ranks(); ++from) {
      for (int lane = 0; lane < lanes() && from != to; ++lane) {
        const unsigned seed = (to * ranks() + from) * lanes() + lane;
        received.push_back({&NewBuffer(kBytes), seed});
        Receive(to, from, lane, 1, *received.back().buffer);
        Send(from, to, lane, 1, NewPattern(kBytes, seed));
      }
    }
  }
  ASSERT_TRUE(AwaitAll());
  for (const Expected& expected : received) {
    EXPECT_TRUE(*expected.buffer == Pattern(kBytes, expected.seed));
  }
}

// One rank's part of a ring: what it receives from the left in one round it
// sends to the right in the next.
Status RunRing(Transport& transport, int rank, int ranks,
               std::vector<unsigned char> block, int rounds,
               std::vector<unsigned char>* last) {
  const Deadline deadline = Deadline::AfterMs(20000);
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  std::vector<unsigned char> incoming(block.size());
  for (int round = 0; round < rounds; ++round) {
    const int lane = round % transport.lane_count();
    Transfer in, out;
    transport.Receive(left, lane, round, {incoming.data(), incoming.size()},
                      &in);
    transport.Send(right, lane, round, {block.data(), block.size()}, &out);
    Backoff backoff(ranks);
    while (!in.done() || !out.done()) {
      if (deadline.expired()) {
        transport.FailAll(Status(Code::kTimeout, "the ring stands still"));
      }
      if (transport.Progress() == 0) backoff.Pause();
    }
    if (!in.status().ok()) return in.status();
    if (!out.status().ok()) return out.status();
    block.swap(incoming);
  }
  *last = block;
  return Status::Ok();
}

TEST_P(TransportContractTest, EachRankMayHaveItsOwnThread) {
  constexpr int kTurns = 20;
  for (size_t bytes : {size_t{1000}, size_t{200000}}) {
    std::vector<Buffer> blocks(ranks());
    std::vector<Status> outcomes(ranks());
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks(); ++rank) {
      threads.emplace_back([&, rank] {
        outcomes[rank] = RunRing(at(rank), rank, ranks(), Pattern(bytes, rank),
                                 kTurns * ranks(), &blocks[rank]);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (int rank = 0; rank < ranks(); ++rank) {
      EXPECT_TRUE(outcomes[rank].ok()) << outcomes[rank].ToString();
      // After whole turns of the ring every block is back at its own rank.
      EXPECT_TRUE(blocks[rank] == Pattern(bytes, rank)) << "rank " << rank;
    }
  }
}

}  // namespace
}  // namespace rondo
