// Every collective, through the whole stack of one process: exact values for
// all types, reductions, rank counts, host layouts, sizes and placements.

#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/kernels/test_data.h"
#include "collectives/testing/world.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace rondo {
namespace {

constexpr uint64_t kSeed = 7;

// Small chunks, so that modest sizes have many of them.
WorldOptions SmallChunks(int ranks, std::vector<std::string> hosts = {}) {
  return {.ranks = ranks,
          .host_ids = std::move(hosts),
          .settings = {{"RONDO_CHUNK_BYTES", "1024"},
                       {"RONDO_WINDOW_CHUNKS", "3"}}};
}

size_t Sum(const std::vector<size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), size_t{0});
}

size_t Before(const std::vector<size_t>& counts, int rank) {
  return std::accumulate(counts.begin(), counts.begin() + rank, size_t{0});
}

// Elements of one type at any alignment, poisoned at first, with a guard
// behind.
class Elements {
 public:
  Elements(DataType type, size_t count, size_t misalignment = 0)
      : type_(type),
        count_(count),
        shift_(misalignment),
        bytes_(shift_ + count * ElementSize(type) + kGuard, '\xa5') {}

  char* at(size_t element) {
    return bytes_.data() + shift_ + element * ElementSize(type_);
  }
  bool GuardIntact() const {
    return std::all_of(bytes_.end() - kGuard, bytes_.end(),
                       [](char byte) { return byte == '\xa5'; });
  }
  size_t Wrong(const Elements& want) const {
    return CountWrong(type_, bytes_.data() + shift_,
                      want.bytes_.data() + want.shift_, count_);
  }

 private:
  static constexpr size_t kGuard = 64;
  DataType type_;
  size_t count_;
  size_t shift_;
  std::vector<char> bytes_;
};

struct Case {
  DataType type = DataType::kFloat32;
  Reduction reduction = Reduction::kSum;
  std::vector<size_t> counts;
  bool in_place = false;
  size_t misalignment = 0;

  std::string Text() const {
    return fmt::format("{} {} total {} in_place {} misaligned {}",
                       DataTypeName(type), ReductionName(reduction),
                       Sum(counts), in_place, misalignment);
  }
};

void CheckAllGather(Communicator& comm, const Case& c) {
  const size_t total = Sum(c.counts);
  const size_t before = Before(c.counts, comm.rank());
  const size_t own = c.counts[comm.rank()];
  Elements input(c.type, own, c.misalignment);
  Elements output(c.type, total, c.misalignment);
  Elements want(c.type, total);
  for (int r = 0; r < comm.world_size(); ++r) {
    FillTestData(c.type, Reduction::kMax, kSeed, r, 0,
                 want.at(Before(c.counts, r)), c.counts[r]);
  }
  char* source = c.in_place ? output.at(before) : input.at(0);
  std::memcpy(source, want.at(before), own * ElementSize(c.type));
  const Status status = comm.Run({.collective = Collective::kAllGather,
                                  .input = source,
                                  .output = output.at(0),
                                  .counts = c.counts,
                                  .type = c.type});
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(output.Wrong(want), 0u) << c.Text();
  EXPECT_TRUE(output.GuardIntact()) << c.Text();
  EXPECT_EQ(std::memcmp(source, want.at(before), own * ElementSize(c.type)), 0)
      << "input changed: " << c.Text();
}

void CheckReduceScatter(Communicator& comm, const Case& c) {
  const size_t total = Sum(c.counts);
  const size_t before = Before(c.counts, comm.rank());
  const size_t own = c.counts[comm.rank()];
  Elements input(c.type, total, c.misalignment);
  Elements untouched(c.type, total);
  Elements output(c.type, own, c.misalignment);
  Elements want(c.type, own);
  FillTestData(c.type, c.reduction, kSeed, comm.rank(), 0, input.at(0), total);
  FillTestData(c.type, c.reduction, kSeed, comm.rank(), 0, untouched.at(0),
               total);
  FillExpected(c.type, c.reduction, kSeed, comm.world_size(), before,
               want.at(0), own);
  char* result = c.in_place ? input.at(before) : output.at(0);
  const Status status = comm.Run({.collective = Collective::kReduceScatter,
                                  .input = input.at(0),
                                  .output = result,
                                  .counts = c.counts,
                                  .type = c.type,
                                  .reduction = c.reduction});
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(CountWrong(c.type, result, want.at(0), own), 0u) << c.Text();
  EXPECT_TRUE(output.GuardIntact()) << c.Text();
  if (c.in_place) {
    std::memcpy(untouched.at(before), want.at(0), own * ElementSize(c.type));
  }
  EXPECT_EQ(input.Wrong(untouched), 0u) << "input changed: " << c.Text();
}

std::vector<size_t> Even(int ranks, size_t count) {
  return std::vector<size_t>(ranks, count);
}

class WorldSizes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, WorldSizes, testing::Values(1, 2, 3, 5, 7, 8));

TEST_P(WorldSizes, AllGatherIsExactAtEverySizeAndPlacement) {
  const int ranks = GetParam();
  RunWorld(SmallChunks(ranks), [&](Communicator& comm) {
    for (size_t count : {0, 1, 255, 256, 257, 5000}) {
      for (bool in_place : {false, true}) {
        CheckAllGather(comm, {.counts = Even(ranks, count),
                              .in_place = in_place,
                              .misalignment = count % 4});
      }
    }
  });
}

TEST_P(WorldSizes, ReduceScatterIsExactAtEverySizeAndPlacement) {
  const int ranks = GetParam();
  RunWorld(SmallChunks(ranks), [&](Communicator& comm) {
    for (size_t count : {0, 1, 255, 256, 257, 5000}) {
      for (bool in_place : {false, true}) {
        CheckReduceScatter(comm, {.counts = Even(ranks, count),
                                  .in_place = in_place,
                                  .misalignment = count % 4});
      }
    }
  });
}

TEST_P(WorldSizes, EveryTypeAndReductionIsExact) {
  const int ranks = GetParam();
  RunWorld(SmallChunks(ranks), [&](Communicator& comm) {
    for (DataType type : AllDataTypes()) {
      CheckAllGather(comm, {.type = type, .counts = Even(ranks, 2049)});
      for (Reduction reduction : AllReductions()) {
        CheckReduceScatter(comm, {.type = type,
                                  .reduction = reduction,
                                  .counts = Even(ranks, 1111),
                                  .misalignment = 1});
      }
    }
  });
}

TEST_P(WorldSizes, UnevenAndEmptyBlocksAreExact) {
  const int ranks = GetParam();
  std::vector<size_t> counts;
  for (int r = 0; r < ranks; ++r)
    counts.push_back(r % 3 == 1 ? 0 : r * 700 + 3);
  RunWorld(SmallChunks(ranks), [&](Communicator& comm) {
    for (bool in_place : {false, true}) {
      CheckAllGather(comm, {.counts = counts, .in_place = in_place});
      CheckReduceScatter(comm, {.counts = counts, .in_place = in_place});
    }
  });
}

TEST_P(WorldSizes, RanksOnSeveralHostsAgreeThroughMessages) {
  const int ranks = GetParam();
  std::vector<std::string> hosts;
  for (int r = 0; r < ranks; ++r) hosts.push_back(r % 2 == 0 ? "even" : "odd");
  RunWorld(SmallChunks(ranks, hosts), [&](Communicator& comm) {
    EXPECT_EQ(comm.host_count(), std::min(ranks, 2));
    CheckAllGather(comm, {.counts = Even(ranks, 3001)});
    CheckReduceScatter(comm, {.counts = Even(ranks, 3001)});
    EXPECT_TRUE(comm.Barrier().ok());
  });
}

TEST_P(WorldSizes, BroadcastReachesEveryRankFromEveryRoot) {
  const int ranks = GetParam();
  RunWorld(SmallChunks(ranks), [&](Communicator& comm) {
    for (int root = 0; root < ranks; ++root) {
      const size_t count = 2000 + root;
      Elements want(DataType::kBfloat16, count);
      Elements output(DataType::kBfloat16, count, 2);
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

TEST_P(WorldSizes, DirectIsExactAtEverySizeAndPlacement) {
  const int ranks = GetParam();
  WorldOptions options = SmallChunks(ranks);
  options.settings.push_back({"RONDO_ALGO", "direct"});
  RunWorld(options, [&](Communicator& comm) {
    for (size_t count : {0, 1, 257, 5000}) {
      for (bool in_place : {false, true}) {
        const Case c{.counts = Even(ranks, count), .in_place = in_place};
        CheckAllGather(comm, c);
        CheckReduceScatter(comm, c);
      }
    }
    CheckReduceScatter(comm, {.type = DataType::kBfloat16,
                              .reduction = Reduction::kAverage,
                              .counts = Even(ranks, 777)});
    EXPECT_EQ(comm.counters().message_bytes_sent, 0u);
  });
}

TEST(CollectivesTest, DirectIsRefusedBetweenHostsWithTheReason) {
  WorldOptions options = SmallChunks(2, {"a", "b"});
  options.settings.push_back({"RONDO_ALGO", "direct"});
  RunWorld(options, [](Communicator& comm) {
    float input = 1, output[2];
    const Status status = comm.AllGather(&input, output, 1, DataType::kFloat32);
    EXPECT_EQ(status.code(), Code::kNotSupported);
    EXPECT_NE(status.message().find("RONDO_ALGO=direct"), std::string::npos);
    EXPECT_TRUE(comm.Barrier().ok());
  });
}

TEST_P(WorldSizes, SeveralLanesCarryTheChunksInTurn) {
  WorldOptions options = SmallChunks(GetParam());
  options.lanes = 3;
  RunWorld(options, [&](Communicator& comm) {
    CheckAllGather(comm, {.counts = Even(comm.world_size(), 4000)});
    CheckReduceScatter(comm, {.counts = Even(comm.world_size(), 4000)});
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
  RunWorld(SmallChunks(4), [](Communicator& comm) {
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
  WorldOptions options = SmallChunks(2);
  options.settings.push_back({"RONDO_TRACE_FILE", pattern});
  RunWorld(options, [](Communicator& comm) {
    CheckReduceScatter(comm, {.counts = {300, 300}});
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
    RunWorld({.ranks = ranks, .over_ucx = true}, [&](Communicator& comm) {
      CheckAllGather(comm, {.counts = Even(ranks, 300001)});
      CheckReduceScatter(comm, {.counts = Even(ranks, 300001)});
      EXPECT_TRUE(comm.Barrier().ok());
    });
  }
}

}  // namespace
}  // namespace rondo
