#include "optimizer/kernels/tile_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "collectives/kernels/highway_targets.h"
#include "optimizer/kernels/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizer/kernels/tile_kernels.cc"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file once for each target.
#include "collectives/kernels/lanes-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "optimizer/kernels/scaled-inl.h"

#ifndef RONDO_OPTIMIZER_KERNELS_TILE_KERNELS_ONCE_
#define RONDO_OPTIMIZER_KERNELS_TILE_KERNELS_ONCE_
namespace rondo {
namespace {

constexpr size_t kCacheLineBytes = 64;

// Partial sums of TileSquaredSum.
constexpr size_t kPartialSums = 16;

// One source's part in the sum of a tile.
struct AddTask {
  const uint8_t* source;
  size_t count;
  float* tile;
  bool is_first;  // the tile holds nothing yet
  bool is_last;   // scale the sum
  float scale;
};

}  // namespace
}  // namespace rondo
#endif  // RONDO_OPTIMIZER_KERNELS_TILE_KERNELS_ONCE_

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {
namespace {

// double in memory, float in registers: half as many as a vector holds.
struct DoubleFormat {
  static constexpr size_t kElementBytes = sizeof(double);
  using D = hn::Rebind<float, hn::ScalableTag<double>>;

  static HWY_INLINE hn::VFromD<D> Load(D d, const uint8_t* source) {
    const auto wide = LoadBytes(hn::ScalableTag<double>(), source);
#if HWY_TARGET == HWY_SCALAR
    // Highway's own turns infinity into the largest float here.
    return hn::Set(d, static_cast<float>(hn::GetLane(wide)));
#else
    return hn::DemoteTo(d, wide);
#endif
  }
  static HWY_INLINE void Store(hn::VFromD<D> v, D, uint8_t* destination) {
    const hn::ScalableTag<double> wide;
    StoreBytes(hn::PromoteTo(wide, v), wide, destination);
  }
};

template <class Format>
struct TagOf {
  using type = hn::ScalableTag<float>;
};
template <>
struct TagOf<DoubleFormat> {
  using type = DoubleFormat::D;
};

template <class Format, bool kFirst, bool kLast>
void AddSource(const AddTask& task) {
  const typename TagOf<Format>::type d;
  const size_t lanes = hn::Lanes(d);
  const uint8_t* source = task.source;
  float* tile = task.tile;
  const float scale = task.scale;
  const auto add = [&](const uint8_t* from, float* to) HWY_ATTR {
    auto v = Format::Load(d, from);
    if (!kFirst) v = hn::Add(hn::LoadU(d, to), v);
    if (kLast) v = ScaledWithPlainNan(d, v, scale);
    hn::StoreU(v, d, to);
  };
  size_t i = 0;
  for (; i + lanes <= task.count; i += lanes) {
    add(source + i * Format::kElementBytes, tile + i);
  }
  const size_t rest = task.count - i;
  if (rest == 0) return;
  alignas(kCacheLineBytes) uint8_t from[kMaxVectorBytes] = {};
  alignas(kCacheLineBytes) float to[kMaxVectorBytes / sizeof(float)] = {};
  std::memcpy(from, source + i * Format::kElementBytes,
              rest * Format::kElementBytes);
  if (!kFirst) std::copy_n(tile + i, rest, to);
  add(from, to);
  std::copy_n(to, rest, tile + i);
}

template <class Format>
void AddFormat(const AddTask& task) {
  if (task.is_first) {
    return task.is_last ? AddSource<Format, true, true>(task)
                        : AddSource<Format, true, false>(task);
  }
  return task.is_last ? AddSource<Format, false, true>(task)
                      : AddSource<Format, false, false>(task);
}

void AddOnTarget(DataType type, const AddTask& task) {
  switch (type) {
    case DataType::kFloat16:
      return AddFormat<HalfFormat>(task);
    case DataType::kBfloat16:
      return AddFormat<Bfloat16Format>(task);
    case DataType::kFloat64:
      return AddFormat<DoubleFormat>(task);
    default:
      return AddFormat<PlainFormat<float>>(task);
  }
}

// `output` has room for a whole vector past the end.
template <class Format>
void Convert(const float* input, size_t count, uint8_t* output) {
  const typename TagOf<Format>::type d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Format::Store(hn::LoadU(d, input + i), d,
                  output + i * Format::kElementBytes);
  }
  if (i == count) return;
  alignas(kCacheLineBytes) float rest[kMaxVectorBytes / sizeof(float)] = {};
  std::copy_n(input + i, count - i, rest);
  Format::Store(hn::LoadU(d, rest), d, output + i * Format::kElementBytes);
}

void ConvertOnTarget(DataType type, const float* input, size_t count,
                     uint8_t* output) {
  switch (type) {
    case DataType::kFloat16:
      return Convert<HalfFormat>(input, count, output);
    case DataType::kBfloat16:
      return Convert<Bfloat16Format>(input, count, output);
    case DataType::kFloat64:
      return Convert<DoubleFormat>(input, count, output);
    default:
      return Convert<PlainFormat<float>>(input, count, output);
  }
}

// `bytes` is a multiple of a line, and `output` is aligned to one.
void StreamOnTarget(const uint8_t* input, size_t bytes, uint8_t* output) {
  StreamBytes(input, bytes, output);
}

// Four vectors of partial sums at a time, of 1, 2 or 4 lanes each. `count` is a
// multiple of kPartialSums. Fused or not is the same, as squares are exact.
void SquareOnTarget(const float* tile, size_t count, double* partial_sums) {
  const hn::CappedTag<double, kPartialSums / 4> d;
  const hn::Rebind<float, decltype(d)> df;
  const size_t lanes = hn::Lanes(d);
  const auto load = [&](size_t at) HWY_ATTR {
    return hn::PromoteTo(d, hn::LoadU(df, tile + at));
  };
  for (size_t base = 0; base < kPartialSums; base += 4 * lanes) {
    auto s0 = hn::LoadU(d, partial_sums + base);
    auto s1 = hn::LoadU(d, partial_sums + base + lanes);
    auto s2 = hn::LoadU(d, partial_sums + base + 2 * lanes);
    auto s3 = hn::LoadU(d, partial_sums + base + 3 * lanes);
    for (size_t i = base; i < count; i += kPartialSums) {
      const auto v0 = load(i);
      const auto v1 = load(i + lanes);
      const auto v2 = load(i + 2 * lanes);
      const auto v3 = load(i + 3 * lanes);
      s0 = hn::MulAdd(v0, v0, s0);
      s1 = hn::MulAdd(v1, v1, s1);
      s2 = hn::MulAdd(v2, v2, s2);
      s3 = hn::MulAdd(v3, v3, s3);
    }
    hn::StoreU(s0, d, partial_sums + base);
    hn::StoreU(s1, d, partial_sums + base + lanes);
    hn::StoreU(s2, d, partial_sums + base + 2 * lanes);
    hn::StoreU(s3, d, partial_sums + base + 3 * lanes);
  }
}

}  // namespace
// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo {

HWY_EXPORT(AddOnTarget);
HWY_EXPORT(ConvertOnTarget);
HWY_EXPORT(StreamOnTarget);
HWY_EXPORT(SquareOnTarget);

namespace {

// Lines as asked, what is ragged through the cache.
void StoreBytesTo(const uint8_t* input, size_t bytes, uint8_t* output,
                  StoreHint hint) {
  if (hint == StoreHint::kStream && bytes >= 2 * kCacheLineBytes) {
    const size_t head = -reinterpret_cast<uintptr_t>(output) % kCacheLineBytes;
    std::memcpy(output, input, head);
    const size_t lines = (bytes - head) / kCacheLineBytes * kCacheLineBytes;
    HWY_DYNAMIC_DISPATCH(StreamOnTarget)(input + head, lines, output + head);
    input += head + lines;
    output += head + lines;
    bytes -= head + lines;
  }
  std::memcpy(output, input, bytes);
}

void StoreTypeTo(DataType type, const uint8_t* elements, size_t count,
                 std::span<const MutableElements> destinations, size_t offset,
                 StoreHint hint) {
  const size_t element_bytes = ElementSize(type);
  for (const MutableElements& destination : destinations) {
    if (destination.type != type) continue;
    StoreBytesTo(
        elements, count * element_bytes,
        static_cast<uint8_t*>(destination.data) + offset * element_bytes, hint);
  }
}

bool IsFirstOfItsType(std::span<const MutableElements> destinations,
                      size_t index) {
  const auto end = destinations.begin() + static_cast<ptrdiff_t>(index);
  return std::none_of(destinations.begin(), end,
                      [&](const MutableElements& earlier) {
                        return earlier.type == destinations[index].type;
                      });
}

}  // namespace

void SumGradientTile(std::span<const ConstElements> sources, size_t offset,
                     size_t count, float scale, float* tile) {
  if (count == 0) return;  // the arrays may be null then
  if (sources.empty()) std::fill_n(tile, count, 0.0f);
  for (size_t s = 0; s < sources.size(); ++s) {
    const auto* data = static_cast<const uint8_t*>(sources[s].data);
    const AddTask task{
        .source = data + offset * ElementSize(sources[s].type),
        .count = count,
        .tile = tile,
        .is_first = s == 0,
        .is_last = s + 1 == sources.size(),
        .scale = scale,
    };
    HWY_DYNAMIC_DISPATCH(AddOnTarget)(sources[s].type, task);
  }
}

void StoreParameterTile(const float* parameter, size_t count,
                        std::span<const MutableElements> destinations,
                        size_t offset, StoreHint hint) {
  if (count == 0) return;  // the arrays may be null then
  // A vector more than a tile of doubles.
  alignas(kCacheLineBytes)
      uint8_t scratch[kTileElements * sizeof(double) + 256];
  for (size_t i = 0; i < destinations.size(); ++i) {
    if (!IsFirstOfItsType(destinations, i)) continue;
    const DataType type = destinations[i].type;
    const auto* elements = reinterpret_cast<const uint8_t*>(parameter);
    if (type != DataType::kFloat32) {
      HWY_DYNAMIC_DISPATCH(ConvertOnTarget)(type, parameter, count, scratch);
      elements = scratch;
    }
    StoreTypeTo(type, elements, count, destinations.subspan(i), offset, hint);
  }
}

void FenceStreamedStores() { hwy::FlushStream(); }

SquaredSum TileSquaredSum(const float* tile, size_t count) {
  double s[kPartialSums] = {};
  const size_t whole = count / kPartialSums * kPartialSums;
  HWY_DYNAMIC_DISPATCH(SquareOnTarget)(tile, whole, s);
  if (whole < count) {
    float rest[kPartialSums] = {};  // a zero adds nothing
    std::copy_n(tile + whole, count - whole, rest);
    HWY_DYNAMIC_DISPATCH(SquareOnTarget)(rest, kPartialSums, s);
  }
  for (size_t half = kPartialSums / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) s[i] += s[i + half];
  }
  // Squares of finite floats are far from the largest double.
  return {s[0], std::isfinite(s[0])};
}

}  // namespace rondo
#endif  // HWY_ONCE
