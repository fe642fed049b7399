// The tile kernels against scalar loops: every type, length, alignment and
// vector unit. Bits must agree.

#include "optimizer/kernels/tile_kernels.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "collectives/engine/update.h"
#include "collectives/kernels/data_type.h"
#include "collectives/kernels/every_target.h"
#include "collectives/kernels/half.h"
#include "collectives/kernels/store_hint.h"
#include "gtest/gtest.h"
#include "optimizer/kernels/tile.h"

namespace rondo {
namespace {

constexpr DataType kF16 = DataType::kFloat16;
constexpr DataType kB16 = DataType::kBfloat16;
constexpr DataType kF32 = DataType::kFloat32;
constexpr DataType kF64 = DataType::kFloat64;
constexpr uint8_t kGuard = 0xa5;
const size_t kCounts[] = {0, 1, 7, 16, 31, 64, 100, 1023, 1024};

using Bytes = std::vector<uint8_t>;

// Elements of every kind: random bits, NaN and infinities among them, or
// numbers near 1 whose sums round.
Bytes RandomElements(DataType type, size_t count, uint32_t seed, bool tame) {
  std::mt19937 generator(seed);
  Bytes bytes(count * ElementSize(type));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(generator());
  const uint8_t one = type == kF16 ? 0x3c : 0x3f;
  for (size_t i = 0; tame && i < count; ++i) {
    // The upper bytes hold sign and exponent of every type.
    uint8_t& top = bytes[(i + 1) * ElementSize(type) - 1];
    top = static_cast<uint8_t>((top & 0x83) ^ one);
  }
  return bytes;
}

template <typename T>
T ElementAt(const void* data, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const uint8_t*>(data) + index * sizeof(T),
              sizeof(T));
  return value;
}

float AsFloat(const ConstElements& source, size_t index) {
  switch (source.type) {
    case kF16:
      return static_cast<float>(ElementAt<Half>(source.data, index));
    case kB16:
      return static_cast<float>(ElementAt<Bfloat16>(source.data, index));
    case kF64:
      return static_cast<float>(ElementAt<double>(source.data, index));
    default:
      return ElementAt<float>(source.data, index);
  }
}

uint32_t ReferenceSum(const std::vector<ConstElements>& sources, size_t index,
                      float scale) {
  float sum = AsFloat(sources[0], index);
  for (size_t s = 1; s < sources.size(); ++s) {
    sum += AsFloat(sources[s], index);
  }
  sum *= scale;
  if (std::isnan(sum)) sum = std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<uint32_t>(sum);
}

void CheckSum(const std::vector<DataType>& types, size_t count, size_t shift,
              bool tame) {
  const size_t offset = 3;
  const float scale = 0.3f;
  std::vector<Bytes> arrays;
  std::vector<ConstElements> sources;
  for (size_t s = 0; s < types.size(); ++s) {
    const auto seed = static_cast<uint32_t>(100 * s + count);
    arrays.push_back(RandomElements(types[s], offset + count, seed, tame));
    // Misaligned by `shift` bytes, not even to the element.
    arrays[s].insert(arrays[s].begin(), shift, kGuard);
  }
  for (size_t s = 0; s < types.size(); ++s) {
    sources.push_back({types[s], arrays[s].data() + shift});
  }
  std::vector<float> tile(count + 2, 42.0f);
  float* at = tile.data() + 1;
  SumGradientTile(sources, offset, count, scale, at);
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(at[i]),
              ReferenceSum(sources, offset + i, scale))
        << "element " << i << " of " << count;
  }
  EXPECT_EQ(tile.front(), 42.0f);
  EXPECT_EQ(tile.back(), 42.0f);
}

TEST(SumGradientTileTest, HasTheBitsOfTheScalarLoop) {
  const std::vector<std::vector<DataType>> combinations = {
      {kF16},
      {kB16},
      {kF32},
      {kF64},
      {kF16, kF16, kF16},
      {kB16, kB16},
      {kF32, kF32, kF32, kF32, kF32},
      {kF64, kF64},
      {kF32, kB16, kF16, kF64},
  };
  ForEveryTarget([&](const std::string& unit) {
    SCOPED_TRACE(unit);
    for (const auto& types : combinations) {
      for (size_t count : kCounts) {
        CheckSum(types, count, count % 5, /*tame=*/true);
        CheckSum(types, count, 0, /*tame=*/false);
      }
    }
  });
}

TEST(SumGradientTileTest, AddsInTheOrderGiven) {
  // (2^24 + 1) + 1 loses both ones in fp32; (1 + 1) + 2^24 keeps them.
  const float big = 0x1p24f;
  const float one = 1;
  const ConstElements b = {kF32, &big};
  const ConstElements o = {kF32, &one};
  float sum = 0;
  SumGradientTile(std::vector<ConstElements>{b, o, o}, 0, 1, 1, &sum);
  EXPECT_EQ(sum, 0x1p24f);
  SumGradientTile(std::vector<ConstElements>{o, o, b}, 0, 1, 1, &sum);
  EXPECT_EQ(sum, 0x1p24f + 2);
}

TEST(SumGradientTileTest, WithoutSourcesIsZero) {
  std::vector<float> tile(9, 5.0f);
  SumGradientTile({}, 0, 9, 2, tile.data());
  EXPECT_EQ(tile, std::vector<float>(9, 0.0f));
}

// What element `value` should be in memory.
Bytes Rounded(DataType type, float value) {
  Bytes bytes(ElementSize(type));
  const Half half(value);
  const Bfloat16 bfloat16(value);
  const auto wide = static_cast<double>(value);
  const void* from = type == kF16   ? static_cast<const void*>(&half)
                     : type == kB16 ? static_cast<const void*>(&bfloat16)
                     : type == kF64 ? static_cast<const void*>(&wide)
                                    : static_cast<const void*>(&value);
  std::memcpy(bytes.data(), from, bytes.size());
  return bytes;
}

void CheckStore(const std::vector<DataType>& types, size_t count, size_t shift,
                StoreHint hint) {
  const size_t offset = 5;
  const size_t room = 128;
  const Bytes bits =
      RandomElements(kF32, count, static_cast<uint32_t>(count), count % 2 == 0);
  std::vector<float> parameter(count);
  if (count > 0) std::memcpy(parameter.data(), bits.data(), bits.size());
  std::vector<Bytes> arrays, want;
  std::vector<MutableElements> destinations;
  for (DataType type : types) {
    const size_t size = ElementSize(type);
    arrays.emplace_back(shift + (offset + count) * size + room, kGuard);
    want.push_back(arrays.back());
    for (size_t i = 0; i < count; ++i) {
      // A signalling NaN becomes quiet when it is widened.
      const Bytes element = Rounded(type, parameter[i]);
      std::memcpy(want.back().data() + shift + (offset + i) * size,
                  element.data(), size);
    }
  }
  for (size_t k = 0; k < types.size(); ++k) {
    destinations.push_back({types[k], arrays[k].data() + shift});
  }
  StoreParameterTile(parameter.data(), count, destinations, offset, hint);
  FenceStreamedStores();
  for (size_t k = 0; k < types.size(); ++k) {
    ASSERT_EQ(arrays[k], want[k])
        << DataTypeName(types[k]) << ", " << count << " elements";
  }
}

TEST(StoreParameterTileTest, RoundsToEveryDestinationAndWritesNothingElse) {
  const std::vector<std::vector<DataType>> combinations = {
      {kF16}, {kB16}, {kF32}, {kF64}, {kB16, kB16}, {kF32, kB16, kF16, kB16},
      {},
  };
  ForEveryTarget([&](const std::string& unit) {
    SCOPED_TRACE(unit);
    for (const auto& types : combinations) {
      for (size_t count : kCounts) {
        for (size_t shift : {0, 1, 6, 22}) {
          CheckStore(types, count, shift, StoreHint::kCached);
          CheckStore(types, count, shift, StoreHint::kStream);
        }
      }
    }
  });
}

// The order that the header documents, in its own words.
double ReferenceSquaredSum(const std::vector<float>& tile) {
  std::vector<double> partial(16, 0.0);
  for (size_t i = 0; i < tile.size(); ++i) {
    partial[i % 16] += static_cast<double>(tile[i]) * tile[i];
  }
  while (partial.size() > 1) {
    const size_t half = partial.size() / 2;
    for (size_t i = 0; i < half; ++i) partial[i] += partial[half + i];
    partial.resize(half);
  }
  return partial[0];
}

std::vector<float> RandomTile(size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> tile(count);
  for (float& value : tile) value = normal(generator);
  return tile;
}

TEST(TileSquaredSumTest, HasTheSameBitsOnEveryVectorUnit) {
  bool order_matters = false;
  for (size_t count : kCounts) {
    const std::vector<float> tile = RandomTile(count, 1);
    const double want = ReferenceSquaredSum(tile);
    double in_sequence = 0;
    for (float value : tile) in_sequence += static_cast<double>(value) * value;
    order_matters |= in_sequence != want;
    EXPECT_NEAR(want, in_sequence, 1e-12 * in_sequence);
    ForEveryTarget([&](const std::string& unit) {
      const SquaredSum sum = TileSquaredSum(tile.data(), count);
      EXPECT_EQ(sum.sum, want) << unit << ", " << count << " elements";
      EXPECT_TRUE(sum.finite);
    });
  }
  EXPECT_TRUE(order_matters) << "or the test could not tell another order";
}

TEST(TileSquaredSumTest, FindsEveryElementThatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (float bad : {infinity, -infinity, std::nanf("")}) {
    for (size_t at : {0, 15, 16, 1007, 1022}) {
      std::vector<float> tile = RandomTile(1023, 2);
      tile[at] = bad;
      ForEveryTarget([&](const std::string& unit) {
        EXPECT_FALSE(TileSquaredSum(tile.data(), tile.size()).finite) << unit;
      });
    }
  }
}

TEST(TileSquaredSumTest, LargestFloatsAreFinite) {
  const std::vector<float> tile(kTileElements,
                                -std::numeric_limits<float>::max());
  const SquaredSum sum = TileSquaredSum(tile.data(), tile.size());
  EXPECT_TRUE(sum.finite);
  EXPECT_NEAR(sum.sum, 1024 * std::pow(std::ldexp(1.0, 128), 2), 1e74);
}

}  // namespace
}  // namespace rondo
