// The fused loop against the same work tile by tile: the bits must agree.

#include "optimizer/kernels/update_elements.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "collectives/engine/update.h"
#include "collectives/kernels/data_type.h"
#include "collectives/kernels/every_target.h"
#include "collectives/kernels/half.h"
#include "collectives/kernels/store_hint.h"
#include "gtest/gtest.h"
#include "optimizer/kernels/adam_fused.h"
#include "optimizer/kernels/adam_rule.h"
#include "optimizer/kernels/rule_run.h"
#include "optimizer/kernels/tile.h"
#include "optimizer/kernels/tile_kernels.h"

namespace rondo {
namespace {

constexpr DataType kF16 = DataType::kFloat16;
constexpr DataType kB16 = DataType::kBfloat16;
constexpr DataType kF32 = DataType::kFloat32;

// What a step reads and writes; copies are independent.
struct Arrays {
  Arrays(size_t count, std::vector<DataType> source_types,
         std::vector<DataType> destination_types, size_t shift_bytes)
      : parameter(RandomFloats(count, 1)),
        m(RandomFloats(count, 2)),
        v(RandomFloats(count, 3)),
        from(std::move(source_types)),
        to(std::move(destination_types)),
        shift(shift_bytes) {
    for (float& value : v) value *= value;
    for (size_t s = 0; s < from.size(); ++s) {
      gradients.push_back(Gradient(count, from[s], static_cast<uint32_t>(s)));
    }
    for (DataType type : to) {
      outputs.emplace_back(shift + count * ElementSize(type) + 128, 0xa5);
    }
  }

  static std::vector<uint8_t> Gradient(size_t count, DataType type,
                                       uint32_t seed) {
    std::vector<float> values = RandomFloats(count, 10 + seed);
    if (count > 20) values[17] = std::nanf("");
    // Sums to an infinite gradient.
    if (count > 900) values[900] = std::numeric_limits<float>::infinity();
    std::vector<uint8_t> bytes(count * ElementSize(type));
    const MutableElements all{type, bytes.data()};
    for (size_t at = 0; at < count; at += kTileElements) {
      StoreParameterTile(values.data() + at,
                         std::min(kTileElements, count - at), {&all, 1}, at,
                         StoreHint::kCached);
    }
    return bytes;
  }

  // Where `shift` is 0, outputs start at a cache line.
  uint8_t* Output(size_t k) {
    uint8_t* const data = outputs[k].data();
    return data + (-reinterpret_cast<uintptr_t>(data) % 64) + shift % 64;
  }

  std::vector<uint8_t> Written(size_t k) {
    const uint8_t* const begin = Output(k);
    return {begin, begin + parameter.size() * ElementSize(to[k])};
  }

  template <class Function>
  void Run(const UpdateRule& rule, StoreHint hint, Function update) {
    std::vector<ConstElements> sources;
    std::vector<MutableElements> destinations;
    for (size_t s = 0; s < from.size(); ++s) {
      sources.push_back({from[s], gradients[s].data()});
    }
    for (size_t k = 0; k < to.size(); ++k) {
      destinations.push_back({to[k], Output(k)});
    }
    float* states[] = {m.data(), v.data()};
    update(rule, 0,
           ElementUpdate{.sources = sources,
                         .scale = 0.3f,
                         .destinations = destinations,
                         .hint = hint,
                         .offset = 0,
                         .count = parameter.size(),
                         .parameter = parameter.data(),
                         .states = states});
    FenceStreamedStores();
  }

  std::vector<float> parameter, m, v;
  std::vector<DataType> from, to;
  size_t shift;
  std::vector<std::vector<uint8_t>> gradients, outputs;
};

struct Types {
  std::vector<DataType> from, to;
};

std::vector<Types> AllTypes() {
  return {{{kF32}, {kF32}},
          {{kF32, kF32}, {kB16, kB16}},
          {{kB16, kB16, kB16}, {kB16}},
          {{kB16, kB16}, {kF32, kF32, kF32}},
          {{kF16, kF16}, {kF16}},                     // not fused
          {{kF32, kB16}, {kB16, kF16}},               // not fused
          {std::vector<DataType>(17, kF32), {kB16}},  // too many to fuse
          {{kF32}, {}}};
}

void ExpectSameAsByTile(const AdamHyper& hyper, const Types& types,
                        size_t count, size_t shift, StoreHint hint) {
  auto rule = AdamRule::Create({hyper});
  ASSERT_TRUE(rule.ok());
  ASSERT_TRUE((*rule)->BeginStep(3).ok());
  Arrays fused(count, types.from, types.to, shift);
  Arrays tiled = fused;
  fused.Run(**rule, hint, UpdateElements);
  tiled.Run(**rule, hint, UpdateElementsByTile);
  ASSERT_EQ(BitsOf(fused.parameter), BitsOf(tiled.parameter));
  ASSERT_EQ(BitsOf(fused.m), BitsOf(tiled.m));
  ASSERT_EQ(BitsOf(fused.v), BitsOf(tiled.v));
  for (size_t k = 0; k < types.to.size(); ++k) {
    ASSERT_EQ(fused.Written(k), tiled.Written(k)) << "destination " << k;
  }
}

TEST(UpdateElementsTest, HasTheBitsOfTheTilesOnEveryVectorUnit) {
  ForEveryTarget([&](const std::string& unit) {
    SCOPED_TRACE(unit);
    for (const Types& types : AllTypes()) {
      for (size_t count : {0, 1, 31, 64, 2500}) {
        for (size_t shift : {0, 6}) {
          for (AdamMode mode : {AdamMode::kTorchCompat, AdamMode::kAccurate}) {
            for (bool decoupled : {true, false}) {
              const AdamHyper hyper{.decoupled = decoupled, .mode = mode};
              ExpectSameAsByTile(
                  hyper, types, count, shift,
                  shift == 0 ? StoreHint::kStream : StoreHint::kCached);
            }
          }
          ExpectSameAsByTile({}, types, count, shift, StoreHint::kStream);
        }
      }
    }
  });
}

TEST(UpdateElementsTest, TheRoundedParametersAreTheMasters) {
  auto rule = AdamRule::Create({{}});
  ASSERT_TRUE(rule.ok());
  ASSERT_TRUE((*rule)->BeginStep(1).ok());
  Arrays arrays(333, {kF32, kF32}, {kB16}, 0);
  const std::vector<float> before = arrays.parameter;
  arrays.Run(**rule, StoreHint::kStream, UpdateElements);
  EXPECT_NE(BitsOf(arrays.parameter), BitsOf(before));
  const std::vector<uint8_t> written = arrays.Written(0);
  for (size_t i = 0; i < 333; ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, written.data() + 2 * i, 2);
    ASSERT_EQ(bits, Bfloat16(arrays.parameter[i]).bits());
  }
}

bool HasVectorUnit() {
  bool any = false;
  ForEveryTarget([&](const std::string& unit) {
    any |= unit != "SCALAR" && unit != "Scalar";
  });
  return any;
}

// Or the comparison above compares tiles with tiles.
TEST(FusedAdamTest, TakesAlmostAllElementsOfTheUsualTypes) {
  const AdamConstants constants = MakeAdamConstants({}, 1);
  for (const Types& types : AllTypes()) {
    const bool usual = types.from.size() < 17 && !types.to.empty() &&
                       types.from[0] != kF16 && types.to.back() != kF16;
    Arrays arrays(2500, types.from, types.to, 0);
    size_t done = 0;
    const auto fuse = [&](const UpdateRule&, int, const ElementUpdate& update) {
      done = FusedAdam(constants, update);
    };
    auto rule = AdamRule::Create({{}});
    ASSERT_TRUE(rule.ok());
    arrays.Run(**rule, StoreHint::kStream, fuse);
    if (usual && HasVectorUnit()) {
      EXPECT_GT(done, 2300u);
    } else {
      EXPECT_EQ(done, 0u);
    }
  }
}

}  // namespace
}  // namespace rondo
