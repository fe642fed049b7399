#include "collectives/kernels/test_data.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/kernels/data_type.h"
#include "collectives/kernels/half.h"
#include "collectives/kernels/reduce.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t kSeed = 42;

Bytes Input(DataType type, Reduction reduction, int rank, size_t count) {
  Bytes data(count * ElementSize(type));
  FillTestData(type, reduction, kSeed, rank, 0, data.data(), count);
  return data;
}

Bytes Want(DataType type, Reduction reduction, int world_size, size_t count) {
  Bytes data(count * ElementSize(type));
  FillExpected(type, reduction, kSeed, world_size, 0, data.data(), count);
  return data;
}

// Reduces pairwise in the order of `ranks`, rounding to the type at every step,
// as a ring does.
Bytes ReduceStepwise(DataType type, Reduction reduction,
                     const std::vector<int>& ranks, size_t count) {
  Bytes total = Input(type, reduction, ranks[0], count);
  for (size_t i = 1; i < ranks.size(); ++i) {
    const Bytes input = Input(type, reduction, ranks[i], count);
    const void* sources[] = {total.data(), input.data()};
    const bool last = i + 1 == ranks.size();
    const bool average = last && reduction == Reduction::kAverage;
    ReduceElements(
        type, reduction, sources, 2, total.data(), count,
        ReduceScale{.divisor = average ? static_cast<int>(ranks.size()) : 1});
  }
  return total;
}

std::vector<int> ShuffledRanks(int world_size, uint32_t seed) {
  std::vector<int> ranks(static_cast<size_t>(world_size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::shuffle(ranks.begin(), ranks.end(), std::mt19937(seed));
  return ranks;
}

class TestDataTest
    : public testing::TestWithParam<std::tuple<DataType, Reduction>> {
 protected:
  DataType type() const { return std::get<0>(GetParam()); }
  Reduction reduction() const { return std::get<1>(GetParam()); }
  // How many of `count` elements tell that the inputs of `ranks` were reduced
  // instead of those of all.
  size_t Wrong(const std::vector<int>& ranks, int world_size, size_t count) {
    const Bytes got = ReduceStepwise(type(), reduction(), ranks, count);
    const Bytes want = Want(type(), reduction(), world_size, count);
    return CountWrong(type(), got.data(), want.data(), count);
  }
  bool is_extreme() const {
    return reduction() == Reduction::kMax || reduction() == Reduction::kMin;
  }
};

TEST_P(TestDataTest, ReducesExactlyInAnyOrderUpToTheLargestWorld) {
  for (int world_size : {2, 3, 8, 9, 100, kMaxTestRanks}) {
    for (uint32_t seed : {1u, 2u}) {
      EXPECT_EQ(Wrong(ShuffledRanks(world_size, seed), world_size, 50), 0u)
          << world_size << " ranks";
    }
  }
}

TEST_P(TestDataTest, AMissingContributionShows) {
  constexpr size_t kCount = 2000;
  for (int missing : {0, 1, 3, 7}) {
    std::vector<int> ranks = ShuffledRanks(8, 1);
    std::erase(ranks, missing);
    const size_t wrong = Wrong(ranks, 8, kCount);
    if (is_extreme()) {
      EXPECT_GT(wrong, kCount / 16) << missing;
    } else if (reduction() == Reduction::kAverage) {
      // The quotient by 7 may round or truncate to that by 8.
      EXPECT_GT(wrong, kCount / 4) << missing;
    } else {
      EXPECT_EQ(wrong, kCount) << missing;
    }
  }
}

TEST_P(TestDataTest, ADoubledContributionShows) {
  if (is_extreme()) return;  // The maximum of a value and itself is the same.
  constexpr size_t kCount = 2000;
  std::vector<int> ranks = ShuffledRanks(4, 1);
  ranks.push_back(2);
  const size_t wrong = Wrong(ranks, 4, kCount);
  EXPECT_GT(wrong,
            reduction() == Reduction::kAverage ? kCount / 4 : kCount - 1);
}

TEST_P(TestDataTest, EveryRankOfALargeWorldIsSeen) {
  // In a type with little room each rank of 512-1023 has one element in 512.
  constexpr size_t kCount = 5000;
  for (int rank : {8, 100, 700, kMaxTestRanks - 1}) {
    const Bytes input = Input(type(), reduction(), rank, kCount);
    const Bytes other = Input(type(), reduction(), rank - 1, kCount);
    EXPECT_GT(CountWrong(type(), input.data(), other.data(), kCount), 0u)
        << rank;
  }
}

TEST_P(TestDataTest, DependsOnSeedRankAndElement) {
  constexpr size_t kCount = 1000;
  const size_t size = ElementSize(type());
  const Bytes data = Input(type(), reduction(), 1, kCount);
  Bytes other_seed(data.size());
  FillTestData(type(), reduction(), kSeed + 1, 1, 0, other_seed.data(), kCount);
  const Bytes other_rank = Input(type(), reduction(), 2, kCount);
  const size_t few = type() == DataType::kFloat16 ? kCount / 2 : kCount * 3 / 4;
  EXPECT_GT(CountWrong(type(), data.data(), other_seed.data(), kCount), few);
  EXPECT_GT(CountWrong(type(), data.data(), other_rank.data(), kCount), few);
  EXPECT_GT(CountWrong(type(), data.data(), data.data() + size, kCount - 1),
            few);
}

TEST_P(TestDataTest, PiecesAreTheSameAsTheWholeAtAnyAlignment) {
  constexpr size_t kCount = 100;
  const size_t size = ElementSize(type());
  const Bytes whole = Input(type(), reduction(), 5, kCount);
  const Bytes want = Want(type(), reduction(), 6, kCount);
  for (size_t first : {1, 17, 99}) {
    Bytes piece(1 + (kCount - first) * size);
    FillTestData(type(), reduction(), kSeed, 5, first, piece.data() + 1,
                 kCount - first);
    EXPECT_EQ(std::memcmp(piece.data() + 1, whole.data() + first * size,
                          piece.size() - 1),
              0);
    FillExpected(type(), reduction(), kSeed, 6, first, piece.data() + 1,
                 kCount - first);
    EXPECT_EQ(CountWrong(type(), piece.data() + 1, want.data() + first * size,
                         kCount - first),
              0u);
  }
}

std::string ParamName(
    const testing::TestParamInfo<TestDataTest::ParamType>& info) {
  return std::string(DataTypeName(std::get<0>(info.param))) + "_" +
         std::string(ReductionName(std::get<1>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(EveryTypeAndReduction, TestDataTest,
                         testing::Combine(testing::ValuesIn(AllDataTypes()),
                                          testing::ValuesIn(AllReductions())),
                         ParamName);

TEST(TestDataSumTest, EightBitSumsNeverOverflow) {
  constexpr size_t kCount = 2000;
  std::vector<int> sums(kCount), unsigned_sums(kCount);
  for (int rank = 0; rank < kMaxTestRanks; ++rank) {
    const Bytes input = Input(DataType::kInt8, Reduction::kSum, rank, kCount);
    const Bytes other = Input(DataType::kUint8, Reduction::kSum, rank, kCount);
    for (size_t i = 0; i < kCount; ++i) {
      // Of magnitudes, so that no order of the ranks overflows on the way.
      sums[i] += std::abs(static_cast<int8_t>(input[i]));
      unsigned_sums[i] += other[i];
    }
  }
  EXPECT_LE(*std::max_element(sums.begin(), sums.end()), 127);
  EXPECT_LE(*std::max_element(unsigned_sums.begin(), unsigned_sums.end()), 255);
}

TEST(CountWrongTest, SeesEverySingleFlippedBit) {
  constexpr size_t kCount = 9;
  for (DataType type : AllDataTypes()) {
    const Bytes want = Want(type, Reduction::kSum, 3, kCount);
    for (size_t bit = 0; bit < want.size() * 8; ++bit) {
      Bytes got = want;
      got[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
      ASSERT_EQ(CountWrong(type, got.data(), want.data(), kCount), 1u)
          << DataTypeName(type) << " bit " << bit;
    }
    EXPECT_EQ(CountWrong(type, want.data(), want.data(), kCount), 0u);
  }
}

TEST(CountWrongTest, CountsElementsNotBytes) {
  const std::vector<int64_t> want(10, 0), got(10, -1);
  EXPECT_EQ(CountWrong(DataType::kInt64, got.data(), want.data(), 10), 10u);
  EXPECT_EQ(CountWrong(DataType::kInt64, got.data(), want.data(), 0), 0u);
}

size_t WrongFloat(float got, float want, int tolerance_ulps) {
  return CountWrong(DataType::kFloat32, &got, &want, 1, tolerance_ulps);
}

TEST(CountWrongTest, ToleranceIsInUnitsOfTheLastPlace) {
  EXPECT_EQ(WrongFloat(1.0f, 1.0f + 0x1p-23f, 0), 1u);
  EXPECT_EQ(WrongFloat(1.0f, 1.0f + 0x1p-23f, 1), 0u);
  EXPECT_EQ(WrongFloat(1.0f, 1.0f + 0x1p-22f, 1), 1u);
  EXPECT_EQ(WrongFloat(-0x1p-149f, 0x1p-149f, 2), 0u);
  EXPECT_EQ(WrongFloat(-1.0f, 1.0f, 1), 1u);
}

TEST(CountWrongTest, NoToleranceForNanOrIntegers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(WrongFloat(nan, 1.0f, 1000), 1u);
  EXPECT_EQ(WrongFloat(std::nanf("1"), infinity, 1000), 1u);
  const int32_t got = 5, want = 6;
  EXPECT_EQ(CountWrong(DataType::kInt32, &got, &want, 1, 10), 1u);
  const double low = -std::numeric_limits<double>::max();
  EXPECT_EQ(CountWrong(DataType::kFloat64, &low, &nan, 0, 1), 0u);
  const double high = -low;
  EXPECT_EQ(CountWrong(DataType::kFloat64, &low, &high, 1, 1000), 1u);
}

}  // namespace
}  // namespace rondo
