// A sharded step as one call and as its two halves: the functor sees every
// element of its shard once, with the sum over all ranks, and what it writes
// arrives everywhere.

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/kernels/data_type.h"
#include "collectives/testing/world.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

// Keeps the sums it is given, and gives out 2 * sum + position.
class KeepingUpdate : public Update {
 public:
  // `begin`: where this rank's shard begins in the vector.
  KeepingUpdate(size_t begin, size_t count)
      : begin_(begin), sums_(count, 0), seen_(count, 0), given_(count, 0) {}

  Result<UpdateOutcome> Apply(
      const UpdateRange& range, std::span<const ConstElements> sources,
      std::span<const MutableElements> destinations) override {
    for (size_t i = 0; i < range.count; ++i) {
      const size_t at = range.vector_offset + i - begin_;
      if (!sources.empty()) ++seen_[at];
      for (const ConstElements& source : sources) {
        sums_[at] += static_cast<const float*>(source.data)[i];
      }
      if (!destinations.empty()) ++given_[at];
      for (const MutableElements& destination : destinations) {
        static_cast<float*>(destination.data)[i] =
            2 * sums_[at] + static_cast<float>(range.vector_offset + i);
      }
    }
    return UpdateOutcome::kDone;
  }

  const std::vector<int>& seen() const { return seen_; }
  const std::vector<int>& given() const { return given_; }

 private:
  size_t begin_;
  std::vector<float> sums_;
  std::vector<int> seen_;
  std::vector<int> given_;
};

struct HalvesCase {
  int ranks;
  std::string algorithm;
  std::vector<size_t> counts;  // repeated for as many ranks as there are
};

std::vector<size_t> CountsOf(const HalvesCase& c) {
  std::vector<size_t> counts;
  for (int rank = 0; rank < c.ranks; ++rank) {
    counts.push_back(c.counts[rank % c.counts.size()]);
  }
  return counts;
}

// Small whole numbers: every order of sums is exact.
float Gradient(int rank, size_t i) {
  return static_cast<float>((i * 7 + rank * 3) % 11);
}

// Runs a step as `calls` on every rank and returns what each one has then.
std::vector<std::vector<float>> Outputs(const HalvesCase& c,
                                        const std::vector<Collective>& calls) {
  const std::vector<size_t> counts = CountsOf(c);
  const size_t total = std::accumulate(counts.begin(), counts.end(), size_t{0});
  std::vector<std::vector<float>> outputs(c.ranks,
                                          std::vector<float>(total, -1));
  const WorldOptions options{
      .ranks = c.ranks,
      .settings = {{"RONDO_ALGO", c.algorithm}, {"RONDO_CHUNK_BYTES", "1024"}}};
  RunWorld(options, [&](Communicator& comm) {
    std::vector<float> input(total);
    for (size_t i = 0; i < total; ++i) input[i] = Gradient(comm.rank(), i);
    const size_t begin = std::accumulate(
        counts.begin(), counts.begin() + comm.rank(), size_t{0});
    KeepingUpdate update(begin, counts[comm.rank()]);
    for (Collective collective : calls) {
      const Status status = comm.Run({.collective = collective,
                                      .input = input.data(),
                                      .output = outputs[comm.rank()].data(),
                                      .counts = counts,
                                      .update = &update});
      ASSERT_TRUE(status.ok()) << status.ToString();
    }
    const std::vector<int> once(counts[comm.rank()], 1);
    EXPECT_EQ(update.seen(), once);
    EXPECT_EQ(update.given(), once);
  });
  return outputs;
}

class UpdateHalvesTest : public testing::TestWithParam<HalvesCase> {};

TEST_P(UpdateHalvesTest, GiveWhatTheWholeStepGives) {
  const HalvesCase& c = GetParam();
  const auto whole = Outputs(c, {Collective::kShardedStep});
  ASSERT_EQ(whole.size(), static_cast<size_t>(c.ranks));
  for (size_t i = 0; i < whole[0].size(); ++i) {
    float sum = 0;
    for (int rank = 0; rank < c.ranks; ++rank) sum += Gradient(rank, i);
    ASSERT_EQ(whole[0][i], 2 * sum + static_cast<float>(i)) << i;
  }
  for (const auto& output : whole) EXPECT_EQ(output, whole[0]);
  EXPECT_EQ(Outputs(c, {Collective::kReduceUpdate, Collective::kUpdateGather}),
            whole);
}

std::vector<HalvesCase> AllCases() {
  std::vector<HalvesCase> cases;
  for (const char* algorithm : {"auto", "direct", "ring"}) {
    for (int ranks : {1, 2, 3, 5, 7, 8}) {
      for (const std::vector<size_t>& counts :
           {std::vector<size_t>{0}, {1}, {1027}, {700, 0, 1, 300}}) {
        cases.push_back({ranks, algorithm, counts});
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cases, UpdateHalvesTest,
                         testing::ValuesIn(AllCases()));

TEST(UpdateHalvesErrorTest, ASecondHalfNeedsAnOutputAndAFirstOneAnInput) {
  RunWorld({.ranks = 2}, [](Communicator& comm) {
    KeepingUpdate update(4 * static_cast<size_t>(comm.rank()), 4);
    CollectiveCall call{
        .collective = Collective::kReduceUpdate, .count = 4, .update = &update};
    EXPECT_EQ(comm.Run(call).code(), Code::kInvalidArgument);
    call.collective = Collective::kUpdateGather;
    EXPECT_EQ(comm.Run(call).code(), Code::kInvalidArgument);
    call.update = nullptr;
    EXPECT_EQ(comm.Run(call).code(), Code::kInvalidArgument);
  });
}

}  // namespace
}  // namespace rondo
