#include "optimizer/kernels/measure_tile.h"

#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "collectives/kernels/convert.h"
#include "collectives/kernels/every_target.h"
#include "gtest/gtest.h"
#include "optimizer/kernels/tile.h"

namespace rondo {
namespace {

constexpr size_t kOffset = 3;
constexpr float kScale = 0.3f;

// Gradients of some ranks, each of one type.
struct Gradients {
  Gradients(DataType type, int ranks) {
    std::mt19937 random(ranks);
    std::normal_distribution<float> normal;
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<float> values(kTileElements + kOffset);
      for (float& value : values) value = normal(random);
      bytes.emplace_back(values.size() * ElementSize(type));
      EXPECT_TRUE(ConvertElements(DataType::kFloat32, values.data(), type,
                                  bytes.back().data(), values.size())
                      .ok());
    }
    for (const auto& one : bytes) sources.push_back({type, one.data()});
  }
  std::vector<std::vector<char>> bytes;
  std::vector<ConstElements> sources;
};

class MeasureTileTest : public testing::TestWithParam<DataType> {};
INSTANTIATE_TEST_SUITE_P(Types, MeasureTileTest,
                         testing::Values(DataType::kFloat32,
                                         DataType::kBfloat16,
                                         DataType::kFloat16));

TEST_P(MeasureTileTest, GivesTheBitsOfItsTwoParts) {
  for (int ranks : {1, 2, 3, 8}) {
    const Gradients gradients(GetParam(), ranks);
    for (size_t count : {1024, 1008, 1023, 16, 7, 0}) {
      alignas(64) float tile[kTileElements];
      SumGradientTile(gradients.sources, kOffset, count, kScale, tile);
      const SquaredSum want = TileSquaredSum(tile, count);
      ForEveryTarget([&](const std::string& unit) {
        SCOPED_TRACE(unit);
        for (StoreHint hint : {StoreHint::kCached, StoreHint::kStream}) {
          alignas(64) float kept[kTileElements] = {};
          const SquaredSum got = SumAndMeasureTile(gradients.sources, kOffset,
                                                   count, kScale, kept, hint);
          FenceStreamedStores();
          EXPECT_EQ(got.sum, want.sum);
          EXPECT_TRUE(got.finite);
          EXPECT_EQ(std::memcmp(kept, tile, count * sizeof(float)), 0);
          EXPECT_EQ(SumAndMeasureTile(gradients.sources, kOffset, count, kScale,
                                      nullptr, hint)
                        .sum,
                    want.sum);
        }
      });
    }
  }
}

TEST(MeasureTileControlTest, AnElementThatDiffersAndANanAreSeen) {
  Gradients gradients(DataType::kFloat32, 2);
  const auto measure = [&] {
    return SumAndMeasureTile(gradients.sources, 0, kTileElements, 1, nullptr,
                             StoreHint::kCached);
  };
  const double before = measure().sum;
  auto* values = reinterpret_cast<float*>(gradients.bytes[1].data());
  values[1000] += 1;
  EXPECT_NE(measure().sum, before);
  values[1000] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(measure().finite);
}

}  // namespace
}  // namespace rondo
