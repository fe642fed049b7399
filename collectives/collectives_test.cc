// Every collective, through the whole stack of one process: exact values for
// all types, reductions, rank counts, host layouts, sizes and placements.

#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/kernels/test_data.h"
#include "collectives/testing/check_collective.h"
#include "collectives/testing/elements.h"
#include "collectives/testing/world.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace rondo {
namespace {

constexpr uint64_t kSeed = 7;

// Small chunks, so that modest sizes have many of them.
WorldOptions SmallChunks(int ranks, std::vector<std::string> hosts = {},
                         const std::string& algorithm = "auto") {
  return {.ranks = ranks,
          .host_ids = std::move(hosts),
          .settings = {{"RONDO_CHUNK_BYTES", "1024"},
                       {"RONDO_WINDOW_CHUNKS", "3"},
                       {"RONDO_ALGO", algorithm}}};
}

class WorldSizes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, WorldSizes, testing::Values(1, 2, 3, 5, 7, 8));

using RanksAndAlgorithm = std::tuple<int, std::string>;

class EveryAlgorithm : public testing::TestWithParam<RanksAndAlgorithm> {
 protected:
  int ranks() const { return std::get<0>(GetParam()); }
  WorldOptions Options() const {
    return SmallChunks(ranks(), {}, std::get<1>(GetParam()));
  }
};
INSTANTIATE_TEST_SUITE_P(
    RanksAndAlgorithm, EveryAlgorithm,
    testing::Combine(testing::Values(1, 2, 3, 5, 7, 8),
                     testing::Values("auto", "ring", "direct", "staged")),
    [](const testing::TestParamInfo<RanksAndAlgorithm>& info) {
      return fmt::format("{}{}", std::get<1>(info.param),
                         std::get<0>(info.param));
    });

TEST_P(EveryAlgorithm, AllGatherIsExactAtEverySizeAndPlacement) {
  const int ranks = this->ranks();
  RunWorld(Options(), [&](Communicator& comm) {
    for (size_t count : {0, 1, 255, 256, 257, 5000}) {
      for (bool in_place : {false, true}) {
        EXPECT_EQ(WrongAllGather(comm, {.counts = EvenCounts(ranks, count),
                                        .in_place = in_place,
                                        .misalignment = count % 4}),
                  "");
      }
    }
  });
}

TEST_P(EveryAlgorithm, ReduceScatterIsExactAtEverySizeAndPlacement) {
  const int ranks = this->ranks();
  RunWorld(Options(), [&](Communicator& comm) {
    for (size_t count : {0, 1, 255, 256, 257, 5000}) {
      for (bool in_place : {false, true}) {
        EXPECT_EQ(WrongReduceScatter(comm, {.counts = EvenCounts(ranks, count),
                                            .in_place = in_place,
                                            .misalignment = count % 4}),
                  "");
      }
    }
  });
}

TEST_P(EveryAlgorithm, EveryTypeAndReductionIsExact) {
  const int ranks = this->ranks();
  RunWorld(Options(), [&](Communicator& comm) {
    for (DataType type : AllDataTypes()) {
      EXPECT_EQ(WrongAllGather(
                    comm, {.type = type, .counts = EvenCounts(ranks, 2049)}),
                "");
      for (Reduction reduction : AllReductions()) {
        EXPECT_EQ(WrongReduceScatter(comm, {.type = type,
                                            .reduction = reduction,
                                            .counts = EvenCounts(ranks, 1111),
                                            .misalignment = 1}),
                  "");
      }
    }
  });
}

TEST_P(EveryAlgorithm, UnevenAndEmptyBlocksAreExact) {
  const int ranks = this->ranks();
  std::vector<size_t> counts;
  for (int r = 0; r < ranks; ++r)
    counts.push_back(r % 3 == 1 ? 0 : r * 700 + 3);
  RunWorld(Options(), [&](Communicator& comm) {
    for (bool in_place : {false, true}) {
      EXPECT_EQ(WrongAllGather(comm, {.counts = counts, .in_place = in_place}),
                "");
      EXPECT_EQ(
          WrongReduceScatter(comm, {.counts = counts, .in_place = in_place}),
          "");
    }
  });
}

TEST_P(WorldSizes, RanksOnSeveralHostsAgreeThroughMessages) {
  const int ranks = GetParam();
  std::vector<std::string> hosts;
  for (int r = 0; r < ranks; ++r) hosts.push_back(r % 2 == 0 ? "even" : "odd");
  RunWorld(SmallChunks(ranks, hosts), [&](Communicator& comm) {
    EXPECT_EQ(comm.host_count(), std::min(ranks, 2));
    EXPECT_EQ(WrongAllGather(comm, {.counts = EvenCounts(ranks, 3001)}), "");
    EXPECT_EQ(WrongReduceScatter(comm, {.counts = EvenCounts(ranks, 3001)}),
              "");
    EXPECT_TRUE(comm.Barrier().ok());
  });
}

TEST_P(WorldSizes, BroadcastReachesEveryRankFromEveryRoot) {
  const int ranks = GetParam();
  RunWorld(SmallChunks(ranks), [&](Communicator& comm) {
    for (int root = 0; root < ranks; ++root) {
      const size_t count = 2000 + root;
      Elements want(DataType::kBfloat16, count);
      Elements output(DataType::kBfloat16, count, {.misalignment = 2});
      FillTestData(DataType::kBfloat16, Reduction::kMax, kSeed, root, 0,
                   want.at(0), count);
      const void* input = comm.rank() == root ? want.at(0) : nullptr;
      const Status status =
          comm.Broadcast(input, output.at(0), count, DataType::kBfloat16, root);
      ASSERT_TRUE(status.ok()) << status.ToString();
      EXPECT_EQ(output.Wrong(want), 0u) << "root " << root;
    }
  });
}

// More pieces than there are slots, and calls of all lengths in turn, so that
// pieces of several calls are under way.
TEST_P(WorldSizes, StagedPiecesReuseTheirSlotsInOrder) {
  const int ranks = GetParam();
  RunWorld(SmallChunks(ranks, {}, "staged"), [&](Communicator& comm) {
    for (size_t count : {100'003, 1, 8'192, 8'193, 2, 70'000, 0, 5}) {
      EXPECT_EQ(WrongAllGather(comm, {.counts = EvenCounts(ranks, count)}), "");
      EXPECT_EQ(WrongReduceScatter(comm, {.counts = EvenCounts(ranks, count),
                                          .in_place = true}),
                "");
    }
    EXPECT_EQ(comm.counters().message_bytes_sent, 0u);
  });
}

// Any mixture of memory gives the same result: it picks the way to a peer.
TEST_P(EveryAlgorithm, RanksMayMixSymmetricAndOrdinaryMemory) {
  RunWorld(Options(), [&](Communicator& comm) {
    for (int mixture = 0; mixture < 4; ++mixture) {
      CollectiveCase c{.counts = EvenCounts(ranks(), 9001)};
      c.symmetric_input =
          mixture == 1 || (mixture == 3 && comm.rank() % 2 == 0);
      c.symmetric_output = mixture == 2 || (mixture == 3 && comm.rank() < 2);
      for (bool in_place : {false, true}) {
        c.in_place = in_place;
        EXPECT_EQ(WrongAllGather(comm, c), "");
        EXPECT_EQ(WrongReduceScatter(comm, c), "");
      }
    }
  });
}

TEST_P(WorldSizes, CallsInsideAHostSendNoMessages) {
  const int ranks = GetParam();
  for (const char* algorithm : {"auto", "direct"}) {
    RunWorld(SmallChunks(ranks, {}, algorithm), [&](Communicator& comm) {
      EXPECT_EQ(WrongAllGather(comm, {.counts = EvenCounts(ranks, 30'000)}),
                "");
      EXPECT_EQ(WrongReduceScatter(comm, {.counts = EvenCounts(ranks, 30'000)}),
                "");
      EXPECT_EQ(WrongReduceScatter(comm, {.counts = EvenCounts(ranks, 3)}), "");
      EXPECT_EQ(comm.counters().message_bytes_sent, 0u);
    });
  }
}

TEST(CollectivesTest, DirectIsRefusedBetweenHostsWithTheReason) {
  RunWorld(SmallChunks(2, {"a", "b"}, "direct"), [](Communicator& comm) {
    float input = 1, output[2];
    const Status status = comm.AllGather(&input, output, 1, DataType::kFloat32);
    EXPECT_EQ(status.code(), Code::kNotSupported);
    EXPECT_NE(status.message().find("RONDO_ALGO=direct"), std::string::npos);
    EXPECT_TRUE(comm.Barrier().ok());
  });
}

TEST_P(WorldSizes, SeveralLanesCarryTheChunksInTurn) {
  WorldOptions options = SmallChunks(GetParam(), {}, "ring");
  options.lanes = 3;
  RunWorld(options, [&](Communicator& comm) {
    EXPECT_EQ(
        WrongAllGather(comm, {.counts = EvenCounts(comm.world_size(), 4000)}),
        "");
    EXPECT_EQ(WrongReduceScatter(
                  comm, {.counts = EvenCounts(comm.world_size(), 4000)}),
              "");
  });
}

TEST(CollectivesTest, StartedCallsRunInOrderAndMayBeWaitedForInAnyOrder) {
  RunWorld(SmallChunks(3), [](Communicator& comm) {
    constexpr size_t kCount = 1000;
    std::vector<int32_t> input(kCount, comm.rank() + 1);
    std::vector<std::vector<int32_t>> outputs(
        4, std::vector<int32_t>(kCount * comm.world_size()));
    std::vector<Request> requests;
    for (auto& output : outputs) {
      auto request = comm.Start({.collective = Collective::kAllGather,
                                 .input = input.data(),
                                 .output = output.data(),
                                 .count = kCount,
                                 .type = DataType::kInt32});
      ASSERT_TRUE(request.ok()) << request.status().ToString();
      requests.push_back(*std::move(request));
    }
    for (int i : {3, 0, 2, 1}) EXPECT_TRUE(requests[i].Wait().ok());
    for (const auto& output : outputs) {
      for (int r = 0; r < comm.world_size(); ++r) {
        EXPECT_EQ(output[r * kCount + kCount / 2], r + 1);
      }
    }
  });
}

TEST(CollectivesTest, AProgressThreadEndsACallThatNobodyWaitsFor) {
  WorldOptions options = SmallChunks(2);
  options.settings.push_back({"RONDO_PROGRESS_THREAD", "1"});
  RunWorld(options, [](Communicator& comm) {
    std::vector<float> input(5000, 1.0f), output(2500);
    auto request = comm.Start({.collective = Collective::kReduceScatter,
                               .input = input.data(),
                               .output = output.data(),
                               .count = output.size()});
    ASSERT_TRUE(request.ok());
    // Nothing below moves this call forward but the thread.
    const Deadline deadline = Deadline::AfterMs(20000);
    Backoff backoff(8);
    while (comm.counters().calls == 0 || !request->Peek()) {
      ASSERT_FALSE(deadline.expired());
      backoff.Pause();
    }
    EXPECT_EQ(output[17], 2.0f);
  });
}

TEST(CollectivesTest, WaitingInOppositeOrdersOnTwoCommunicatorsEnds) {
  RunWorld(SmallChunks(2), [](Communicator& comm) {
    auto other = comm.Split(0, comm.rank());
    ASSERT_TRUE(other.ok()) << other.status().ToString();
    const CollectiveCall barrier{.collective = Collective::kBarrier};
    auto first = comm.Start(barrier);
    auto second = (*other)->Start(barrier);
    ASSERT_TRUE(first.ok() && second.ok());
    if (comm.rank() == 0) {
      EXPECT_TRUE(first->Wait().ok());
      EXPECT_TRUE(second->Wait().ok());
    } else {
      EXPECT_TRUE(second->Wait().ok());
      EXPECT_TRUE(first->Wait().ok());
    }
  });
}

TEST(CollectivesTest, SplitGroupsByColorAndOrdersByKey) {
  RunWorld(SmallChunks(5), [](Communicator& comm) {
    const int color = comm.rank() == 4 ? -1 : comm.rank() % 2;
    auto part = comm.Split(color, -comm.rank());
    ASSERT_TRUE(part.ok()) << part.status().ToString();
    if (color < 0) {
      EXPECT_EQ(*part, nullptr);
      return;
    }
    EXPECT_EQ((*part)->world_size(), 2);
    EXPECT_EQ((*part)->rank(), comm.rank() >= 2 ? 0 : 1);
    int32_t mine = comm.rank();
    std::vector<int32_t> all(2);
    ASSERT_TRUE(
        (*part)->AllGather(&mine, all.data(), 1, DataType::kInt32).ok());
    EXPECT_EQ(all, (std::vector<int32_t>{color + 2, color}));
  });
}

TEST(CollectivesTest, CountersCountTheRingsBytesExactly) {
  RunWorld(SmallChunks(4, {}, "ring"), [](Communicator& comm) {
    std::vector<float> input(1000), output(4000);
    ASSERT_TRUE(
        comm.AllGather(input.data(), output.data(), 1000, DataType::kFloat32)
            .ok());
    const CommunicatorCounters counters = comm.counters();
    EXPECT_EQ(counters.calls, 1u);
    EXPECT_EQ(counters.message_bytes_sent, 3u * 4000);
    EXPECT_EQ(counters.message_bytes_received, 3u * 4000);
  });
}

TEST(CollectivesTest, ATraceFileHasEveryCallOfItsRank) {
  const std::string pattern = testing::TempDir() + "/trace_%r.json";
  WorldOptions options = SmallChunks(2, {}, "ring");
  options.settings.push_back({"RONDO_TRACE_FILE", pattern});
  RunWorld(options, [](Communicator& comm) {
    EXPECT_EQ(WrongReduceScatter(comm, {.counts = {300, 300}}), "");
    EXPECT_TRUE(comm.Barrier().ok());
  });
  for (const char* rank : {"0", "1"}) {
    std::ifstream file(testing::TempDir() + "/trace_" + rank + ".json");
    const auto trace = nlohmann::json::parse(file);
    std::map<std::string, int> events;
    for (const auto& event : trace["traceEvents"]) {
      ++events[event["name"].get<std::string>()];
    }
    EXPECT_EQ(events["reduce_scatter"], 1);
    EXPECT_EQ(events["barrier"], 1);
    EXPECT_EQ(events["reduce"], 2);  // two chunks
  }
}

TEST(CollectivesTest, WorksOverUcx) {
  for (int ranks : {2, 3}) {
    const WorldOptions options{
        .ranks = ranks, .over_ucx = true, .settings = {{"RONDO_ALGO", "ring"}}};
    RunWorld(options, [&](Communicator& comm) {
      EXPECT_EQ(WrongAllGather(comm, {.counts = EvenCounts(ranks, 300001)}),
                "");
      EXPECT_EQ(WrongReduceScatter(comm, {.counts = EvenCounts(ranks, 300001)}),
                "");
      EXPECT_TRUE(comm.Barrier().ok());
    });
  }
}

}  // namespace
}  // namespace rondo
