#include "perf/bench/workload.h"

#include <cstring>
#include <functional>
#include <vector>

#include "collectives/kernels/reduce.h"
#include "gtest/gtest.h"

// Sanitizers would end the process where memory cannot be had.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}

namespace rondo::perf {
namespace {

constexpr int kRanks = 3;
constexpr size_t kCount = 100;
constexpr uint64_t kSeed = 11;

// The workloads of all ranks, and a plain execution of their calls by memcpy
// and a straight reduction.
class Ranks {
 public:
  Ranks(Collective collective, DataType type, Reduction reduction) {
    const WorkloadSpec spec{collective, type, reduction, /*root=*/1, kCount};
    for (int rank = 0; rank < kRanks; ++rank) {
      auto workload = Workload::Create(spec, rank, kRanks);
      EXPECT_TRUE(workload.ok()) << workload.status().ToString();
      workloads_.push_back(std::move(*workload));
    }
  }

  void Fill(bool in_place) {
    for (Workload& workload : workloads_) workload.Fill(in_place, kSeed);
  }

  void Execute(bool in_place) {
    std::vector<CollectiveCall> calls;
    for (const Workload& w : workloads_) calls.push_back(w.Call(in_place));
    const size_t bytes = kCount * ElementSize(calls[0].type);
    std::vector<std::vector<char>> inputs;
    const bool scatter = calls[0].collective == Collective::kReduceScatter;
    for (const CollectiveCall& call : calls) {
      const char* input = static_cast<const char*>(call.input);
      inputs.emplace_back(input, input + bytes * (scatter ? kRanks : 1));
    }
    for (int rank = 0; rank < kRanks; ++rank) {
      char* output = static_cast<char*>(calls[rank].output);
      if (scatter) {
        Reduce(calls[rank], inputs, rank * bytes);
      } else if (calls[rank].collective == Collective::kBroadcast) {
        std::memcpy(output, inputs[1].data(), bytes);
      } else {
        for (int source = 0; source < kRanks; ++source) {
          std::memcpy(output + source * bytes, inputs[source].data(), bytes);
        }
      }
    }
  }

  int64_t Wrong(bool in_place) const {
    int64_t wrong = 0;
    for (const Workload& w : workloads_) wrong += w.CountWrong(in_place, kSeed);
    return wrong;
  }

  CollectiveCall CallOf(int rank, bool in_place) {
    return workloads_[rank].Call(in_place);
  }

 private:
  static void Reduce(const CollectiveCall& call,
                     const std::vector<std::vector<char>>& inputs,
                     size_t first_byte) {
    std::vector<const void*> sources;
    for (const auto& input : inputs) {
      sources.push_back(input.data() + first_byte);
    }
    const bool average = call.reduction == Reduction::kAverage;
    ReduceElements(call.type, call.reduction, sources.data(), kRanks,
                   call.output, kCount,
                   ReduceScale{.divisor = average ? kRanks : 1});
  }

  std::vector<Workload> workloads_;
};

constexpr Collective kCollectives[] = {
    Collective::kAllGather, Collective::kReduceScatter, Collective::kBroadcast};

TEST(WorkloadTest, RightResultsCountNothingWrong) {
  for (Collective collective : kCollectives) {
    for (DataType type : AllDataTypes()) {
      for (Reduction reduction : AllReductions()) {
        for (bool in_place : {false, true}) {
          Ranks ranks(collective, type, reduction);
          ranks.Fill(in_place);
          ranks.Execute(in_place);
          EXPECT_EQ(ranks.Wrong(in_place), 0)
              << CollectiveName(collective) << " " << DataTypeName(type) << " "
              << ReductionName(reduction) << " in place " << in_place;
        }
      }
    }
  }
}

TEST(WorkloadTest, OutputsThatWereNotWrittenAreWrong) {
  for (Collective collective : kCollectives) {
    for (bool in_place : {false, true}) {
      Ranks ranks(collective, DataType::kFloat32, Reduction::kSum);
      ranks.Fill(in_place);
      EXPECT_GT(ranks.Wrong(in_place), 0) << CollectiveName(collective);
    }
  }
}

TEST(WorkloadTest, ResultsOfAnEarlierCallAreWrong) {
  for (Collective collective : kCollectives) {
    Ranks ranks(collective, DataType::kFloat32, Reduction::kSum);
    ranks.Fill(false);
    ranks.Execute(false);
    std::vector<char> stale(kCount * sizeof(float));
    std::memcpy(stale.data(), ranks.CallOf(0, false).output, stale.size());
    Ranks later(collective, DataType::kFloat32, Reduction::kSum);
    later.Fill(false);
    later.Execute(false);
    ASSERT_EQ(later.Wrong(false), 0);
    // The first block of rank 0 turned by one element.
    std::rotate(stale.begin(), stale.begin() + sizeof(float), stale.end());
    std::memcpy(later.CallOf(0, false).output, stale.data(), stale.size());
    EXPECT_GT(later.Wrong(false), 0) << CollectiveName(collective);
  }
}

TEST(WorkloadTest, OneFlippedBitIsOneWrongElement) {
  for (Collective collective : kCollectives) {
    Ranks ranks(collective, DataType::kBfloat16, Reduction::kSum);
    ranks.Fill(false);
    ranks.Execute(false);
    static_cast<char*>(ranks.CallOf(2, false).output)[21] ^= 1;
    EXPECT_EQ(ranks.Wrong(false), 1) << CollectiveName(collective);
  }
}

TEST(WorkloadTest, AChangedSourceIsWrong) {
  for (Collective collective : kCollectives) {
    for (int rank = 0; rank < kRanks; ++rank) {
      Ranks ranks(collective, DataType::kInt32, Reduction::kSum);
      ranks.Fill(false);
      ranks.Execute(false);
      auto* source = const_cast<void*>(ranks.CallOf(rank, false).input);
      static_cast<char*>(source)[5] ^= 1;
      EXPECT_EQ(ranks.Wrong(false), 1) << CollectiveName(collective);
    }
  }
}

TEST(WorkloadTest, InPlaceReduceScatterLeavesOtherBlocksAlone) {
  Ranks ranks(Collective::kReduceScatter, DataType::kInt32, Reduction::kSum);
  ranks.Fill(true);
  ranks.Execute(true);
  auto* blocks = const_cast<void*>(ranks.CallOf(1, true).input);
  static_cast<int*>(blocks)[2 * kCount] ^= 1;  // rank 1, block 2
  EXPECT_EQ(ranks.Wrong(true), 1);
}

TEST(WorkloadTest, InPlaceFollowsThePointerRule) {
  const WorkloadSpec gather{Collective::kAllGather, DataType::kFloat32,
                            Reduction::kSum, 0, kCount};
  auto workload = Workload::Create(gather, 2, kRanks);
  ASSERT_TRUE(workload.ok());
  const CollectiveCall call = workload->Call(true);
  EXPECT_EQ(call.input, static_cast<char*>(call.output) + 2 * kCount * 4);
  EXPECT_NE(workload->Call(false).input, call.input);
  EXPECT_EQ(workload->total_bytes(), kRanks * kCount * 4);
}

TEST(WorkloadTest, MemoryThatCannotBeHadIsAnError) {
  const WorkloadSpec huge{Collective::kAllGather, DataType::kInt8,
                          Reduction::kSum, 0, size_t{1} << 55};
  auto workload = Workload::Create(huge, 0, kRanks);
  ASSERT_FALSE(workload.ok());
  EXPECT_EQ(workload.status().code(), Code::kResourceExhausted);
  EXPECT_NE(workload.status().message().find("108086391056891904"),
            std::string::npos);
}

}  // namespace
}  // namespace rondo::perf
