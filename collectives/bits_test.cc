// Sums of numbers that do not add up exactly: the same bits whichever way data
// moves and however it is cut, and as near to the true sum as rounding allows.

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/kernels/data_type.h"
#include "collectives/testing/world.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

constexpr size_t kCount = 20'011;  // of one block: several pieces and chunks

std::vector<float> InputOf(int rank, int ranks) {
  std::mt19937 random(static_cast<unsigned>(100 + rank));
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> input(kCount * ranks);
  for (float& value : input) value = normal(random);
  return input;
}

// Every rank's block after a reduce-scatter.
std::vector<std::vector<float>> SumsBy(const std::string& algorithm, int ranks,
                                       const std::string& chunk_bytes) {
  std::vector<std::vector<float>> sums(ranks, std::vector<float>(kCount));
  WorldOptions options{.ranks = ranks};
  options.settings = {{"RONDO_ALGO", algorithm},
                      {"RONDO_CHUNK_BYTES", chunk_bytes}};
  RunWorld(options, [&](Communicator& comm) {
    const std::vector<float> input = InputOf(comm.rank(), ranks);
    const Status status =
        comm.ReduceScatter(input.data(), sums[comm.rank()].data(), kCount,
                           DataType::kFloat32, Reduction::kSum);
    EXPECT_TRUE(status.ok()) << status.ToString();
  });
  return sums;
}

class BitsTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, BitsTest, testing::Values(2, 3, 5, 8));

TEST_P(BitsTest, DependNeitherOnTheWayNorOnTheChunks) {
  const int ranks = GetParam();
  const auto direct = SumsBy("direct", ranks, "262144");
  EXPECT_EQ(SumsBy("direct", ranks, "1024"), direct);
  EXPECT_EQ(SumsBy("staged", ranks, "262144"), direct);
  EXPECT_EQ(SumsBy("auto", ranks, "262144"), direct);
  // The control: another association does give other bits from 3 ranks on.
  if (ranks > 2) {
    EXPECT_NE(SumsBy("ring", ranks, "262144"), direct);
  }
}

// |computed - exact| <= (ranks - 1) u sum |x| (Higham, Accuracy and Stability
// of Numerical Algorithms, section 4.2, to first order; doubled for the rest).
TEST_P(BitsTest, AreWithinTheRoundingBoundOfTheSumInDouble) {
  const int ranks = GetParam();
  std::vector<std::vector<float>> inputs;
  for (int rank = 0; rank < ranks; ++rank) {
    inputs.push_back(InputOf(rank, ranks));
  }
  const double unit = std::numeric_limits<float>::epsilon() / 2;
  for (const char* algorithm : {"direct", "staged", "ring"}) {
    const auto sums = SumsBy(algorithm, ranks, "4096");
    for (int rank = 0; rank < ranks; ++rank) {
      for (size_t i = 0; i < kCount; ++i) {
        double exact = 0;
        double magnitude = 0;
        for (const auto& input : inputs) {
          const double value = input[rank * kCount + i];
          exact += value;
          magnitude += std::abs(value);
        }
        ASSERT_LE(std::abs(sums[rank][i] - exact),
                  2 * (ranks - 1) * unit * magnitude)
            << algorithm << ", rank " << rank << ", element " << i;
      }
    }
  }
}

}  // namespace
}  // namespace rondo
