// What goes wrong in a collective: calls that do not match, bad arguments,
// ranks that do not come, abort.

#include <atomic>
#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/testing/world.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

WorldOptions Hosts(int ranks, bool one_host) {
  WorldOptions options{.ranks = ranks,
                       .settings = {{"RONDO_TIMEOUT_MS", "20000"}}};
  for (int r = 0; r < ranks && !one_host; ++r) {
    options.host_ids.push_back("host" + std::to_string(r));
  }
  return options;
}

// Runs `call_of(rank)` on 3 ranks, of which `differing` calls otherwise. Every
// rank must get kMismatch with `text`, and no data of a call that does not
// match may be applied. On one host nothing is: all headers are read first.
// Between hosts a rank may already have got what ranks that agree with it sent.
void ExpectMismatch(bool one_host, int differing,
                    const std::function<CollectiveCall(int rank)>& call_of,
                    const std::string& text) {
  RunWorld(Hosts(3, one_host), [&](Communicator& comm) {
    const auto letter = [](int rank) { return static_cast<char>('a' + rank); };
    std::vector<char> input(1 << 16, letter(comm.rank())), output(1 << 16, 'o');
    CollectiveCall call = call_of(comm.rank());
    call.input = input.data();
    call.output = output.data();
    const Status status = comm.Run(call);
    EXPECT_EQ(status.code(), Code::kMismatch) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(text));
    for (char byte : output) {
      bool allowed = byte == 'o';
      for (int r = 0; r < comm.world_size() && !one_host; ++r) {
        const bool agrees =
            r == comm.rank() || (r != differing && comm.rank() != differing);
        allowed = allowed || (agrees && byte == letter(r));
      }
      ASSERT_TRUE(allowed) << "rank " << comm.rank() << " has " << byte;
    }
    // Poisoned: the next call says the same.
    EXPECT_EQ(comm.Barrier().message(), status.message());
  });
}

class Mismatch : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(OneHostOrThree, Mismatch, testing::Bool());

TEST_P(Mismatch, InCountNamesTheRankAndTheCount) {
  ExpectMismatch(
      GetParam(), 1,
      [](int rank) {
        return CollectiveCall{.count = rank == 1 ? size_t{5} : size_t{4}};
      },
      "count");
}

TEST_P(Mismatch, InTypeIsNamed) {
  ExpectMismatch(
      GetParam(), 2,
      [](int rank) {
        return CollectiveCall{
            .count = 4,
            .type = rank == 2 ? DataType::kInt32 : DataType::kFloat32};
      },
      "type");
}

TEST_P(Mismatch, InOperationIsNamed) {
  ExpectMismatch(
      GetParam(), 0,
      [](int rank) {
        return CollectiveCall{.collective = rank == 0
                                                ? Collective::kReduceScatter
                                                : Collective::kAllGather,
                              .count = 4};
      },
      "operation");
}

TEST_P(Mismatch, InReductionIsNamed) {
  ExpectMismatch(
      GetParam(), 0,
      [](int rank) {
        return CollectiveCall{
            .collective = Collective::kReduceScatter,
            .count = 4,
            .reduction = rank == 0 ? Reduction::kMax : Reduction::kSum};
      },
      "reduction");
}

// No payload edge of a broadcast would show this one between hosts.
TEST_P(Mismatch, InRootIsNamed) {
  ExpectMismatch(
      GetParam(), 0,
      [](int rank) {
        return CollectiveCall{.collective = Collective::kBroadcast,
                              .count = 4,
                              .root = rank == 0 ? 0 : 1};
      },
      "root");
}

TEST_P(Mismatch, OfABarrierWithABroadcastIsNamed) {
  ExpectMismatch(
      GetParam(), 1,
      [](int rank) {
        return CollectiveCall{.collective = rank == 1 ? Collective::kBarrier
                                                      : Collective::kBroadcast,
                              .count = 4};
      },
      "operation");
}

TEST(MismatchTest, OnOneHostTheMinorityIsBlamed) {
  ExpectMismatch(
      true, 1,
      [](int rank) {
        return CollectiveCall{.count = rank == 1 ? size_t{5} : size_t{4}};
      },
      "rank 1 called all_gather(count 5, float) as call 1, which differs in "
      "count; rank 0 called all_gather(count 4, float) as call 1");
}

TEST(DeadlineTest, NamesTheRanksThatHaveNotArrived) {
  WorldOptions options = Hosts(3, true);
  options.settings = {{"RONDO_TIMEOUT_MS", "300"}};
  std::atomic<int> failed{0};
  RunWorld(options, [&](Communicator& comm) {
    if (comm.rank() == 2) {
      // Never calls, but stays, until the others gave up.
      Backoff backoff(8);
      while (failed < 2) backoff.Pause();
      return;
    }
    const Status status = comm.Barrier();
    ++failed;
    EXPECT_EQ(status.code(), Code::kTimeout) << status.ToString();
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("rank(s) 2 have not arrived"),
                      HasSubstr("barrier"), HasSubstr("call 1")));
  });
}

TEST(DeadlineTest, WaitWithATimeoutLeavesTheCallRunning) {
  std::atomic<bool> timed_out{false};
  RunWorld(Hosts(2, true), [&](Communicator& comm) {
    Backoff backoff(8);
    while (comm.rank() == 1 && !timed_out) backoff.Pause();
    auto request = comm.Start({.collective = Collective::kBarrier});
    ASSERT_TRUE(request.ok());
    if (comm.rank() == 0) {
      EXPECT_EQ(request->Wait(50).code(), Code::kTimeout);
      EXPECT_FALSE(request->Peek());
      timed_out = true;
    }
    EXPECT_TRUE(request->Wait().ok());
  });
}

TEST(DepartureTest, OfARankThatACallNeedsIsAnErrorWellBeforeTheDeadline) {
  for (bool one_host : {true, false}) {
    RunWorld(Hosts(3, one_host), [](Communicator& comm) {
      EXPECT_TRUE(comm.Barrier().ok());
      if (comm.rank() == 1) return;  // destroys its communicator in peace
      const Status status = comm.Barrier();
      EXPECT_EQ(status.code(), Code::kRemoteDead) << status.ToString();
      // Whichever notices first: the engine or the transport.
      EXPECT_THAT(status.message(),
                  AnyOf(HasSubstr("rank(s) 1 left the communicator"),
                        HasSubstr("rank 1 has left")));
    });
  }
}

TEST(ExchangeTest, GivesEveryRankEveryText) {
  RunWorld(Hosts(3, true), [](Communicator& comm) {
    auto texts = comm.Exchange(std::string(comm.rank(), 'x'));
    ASSERT_TRUE(texts.ok()) << texts.status().ToString();
    EXPECT_EQ(*texts, (std::vector<std::string>{"", "x", "xx"}));
  });
}

TEST(FaultTest, DelayedMessagesChangeNothingAndOutliveNoCall) {
  WorldOptions options = Hosts(3, false);
  options.settings.push_back({"RONDO_FAULT", "delay:1:3000"});
  RunWorld(options, [](Communicator& comm) {
    for (int call = 0; call < 20; ++call) {
      EXPECT_TRUE(comm.Barrier().ok());
      int32_t mine = comm.rank() + call;
      std::vector<int32_t> all(3);
      ASSERT_TRUE(comm.AllGather(&mine, all.data(), 1, DataType::kInt32).ok());
      EXPECT_EQ(all, (std::vector<int32_t>{call, call + 1, call + 2}));
    }
  });
}

TEST(FaultTest, ADroppedMessageEndsAtTheDeadlineOnEveryRank) {
  WorldOptions options = Hosts(2, true);
  options.settings = {{"RONDO_TIMEOUT_MS", "500"}, {"RONDO_FAULT", "drop:1:1"}};
  RunWorld(options, [](Communicator& comm) {
    float mine = 1, all[2];
    const Status status = comm.AllGather(&mine, all, 1, DataType::kFloat32);
    EXPECT_EQ(status.code(), Code::kTimeout) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr("recv from rank"));
  });
}

TEST(AbortTest, EndsCallsOnEveryRankWithTheReason) {
  RunWorld(Hosts(3, true), [](Communicator& comm) {
    if (comm.rank() == 1) {
      comm.Abort("the loss is not a number");
      EXPECT_EQ(comm.AsyncError().code(), Code::kAborted);
      return;
    }
    const Status status = comm.Barrier();
    EXPECT_EQ(status.code(), Code::kAborted) << status.ToString();
    EXPECT_THAT(status.message(),
                HasSubstr("rank 1 aborted: the loss is not a number"));
  });
}

TEST(ArgumentsTest, AreRefusedByNameAndPoisonNothing) {
  RunWorld(Hosts(2, true), [](Communicator& comm) {
    float buffer[8] = {};
    std::vector<float> other(8);
    EXPECT_THAT(
        comm.AllGather(nullptr, buffer, 4, DataType::kFloat32).message(),
        HasSubstr("input is null"));
    EXPECT_THAT(
        comm.Broadcast(buffer, buffer, 4, DataType::kFloat32, 2).message(),
        HasSubstr("root 2; accepted are ranks 0 to 1"));
    EXPECT_THAT(comm.AllGather(buffer, buffer, 4, DataType{99}).message(),
                HasSubstr("99"));
    EXPECT_THAT(
        comm.AllGather(other.data(), buffer, SIZE_MAX / 4, DataType::kFloat32)
            .message(),
        HasSubstr("bytes at most"));
    // One element off the in-place position.
    EXPECT_THAT(comm.AllGather(buffer + 1 + 4 * comm.rank(), buffer, 4,
                               DataType::kFloat32)
                    .message(),
                HasSubstr("overlap"));
    const std::vector<size_t> counts = {1, 2, 3};
    EXPECT_THAT(comm.Run({.input = buffer, .output = buffer, .counts = counts})
                    .message(),
                HasSubstr("3 counts for 2 ranks"));
    EXPECT_TRUE(comm.Barrier().ok());
  });
}

}  // namespace
}  // namespace rondo
