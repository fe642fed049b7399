#include "optimizer/kernels/measure_tile.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "collectives/kernels/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizer/kernels/measure_tile.cc"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file once for each target.
#include "collectives/kernels/lanes-inl.h"
#include "hwy/highway.h"
#include "optimizer/kernels/scaled-inl.h"
#include "optimizer/kernels/tile.h"

#ifndef RONDO_OPTIMIZER_KERNELS_MEASURE_TILE_ONCE_
#define RONDO_OPTIMIZER_KERNELS_MEASURE_TILE_ONCE_
namespace rondo {
namespace {

// As in TileSquaredSum().
constexpr size_t kPartialSums = 16;
constexpr size_t kMaxMeasuredSources = 16;

struct MeasureTask {
  const uint8_t* const* sources;
  size_t source_count;
  size_t count;  // a multiple of kPartialSums
  float scale;
  float* kept;  // may be null
  bool stream;
  double* partial_sums;
};

}  // namespace
}  // namespace rondo
#endif  // RONDO_OPTIMIZER_KERNELS_MEASURE_TILE_ONCE_

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

template <class Format>
void Measure(const MeasureTask& task) {
  const hn::CappedTag<float, kPartialSums> d;
  const hn::Half<decltype(d)> half;
  const hn::Rebind<double, decltype(half)> wide;
  constexpr size_t kLanes = hn::MaxLanes(d);
  constexpr size_t kVectors = kPartialSums / kLanes;
  using Wide = hn::VFromD<decltype(wide)>;
  const MeasureTask t = task;
  Wide sums[2 * kVectors];
  for (Wide& sum : sums) sum = hn::Zero(wide);
  for (size_t i = 0; i < t.count; i += kPartialSums) {
    for (size_t k = 0; k < kVectors; ++k) {
      const size_t at = i + k * kLanes;
      auto g = Format::Load(d, t.sources[0] + at * Format::kElementBytes);
      for (size_t s = 1; s < t.source_count; ++s) {
        g = hn::Add(g,
                    Format::Load(d, t.sources[s] + at * Format::kElementBytes));
      }
      g = ScaledWithPlainNan(d, g, t.scale);
      if (t.stream) {
        hn::Stream(g, d, t.kept + at);
      } else if (t.kept != nullptr) {
        hn::StoreU(g, d, t.kept + at);
      }
      // Squares of floats are exact in double, so fused or not is the same.
      const Wide low = hn::PromoteTo(wide, hn::LowerHalf(half, g));
      const Wide high = hn::PromoteTo(wide, hn::UpperHalf(half, g));
      sums[2 * k] = hn::MulAdd(low, low, sums[2 * k]);
      sums[2 * k + 1] = hn::MulAdd(high, high, sums[2 * k + 1]);
    }
  }
  for (size_t k = 0; k < 2 * kVectors; ++k) {
    hn::StoreU(sums[k], wide, t.partial_sums + k * kLanes / 2);
  }
}

bool MeasureOnTarget(DataType type, const MeasureTask& task) {
  if (type == DataType::kBfloat16) {
    Measure<Bfloat16Format>(task);
  } else {
    Measure<PlainFormat<float>>(task);
  }
  return true;
}

#else

bool MeasureOnTarget(DataType, const MeasureTask&) { return false; }

#endif

}  // namespace
// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo {

HWY_EXPORT(MeasureOnTarget);

namespace {

bool CanMeasureAtOnce(std::span<const ConstElements> sources, size_t count) {
  if (sources.empty() || sources.size() > kMaxMeasuredSources) return false;
  const DataType type = sources[0].type;
  return count % kPartialSums == 0 &&
         (type == DataType::kFloat32 || type == DataType::kBfloat16) &&
         std::all_of(sources.begin(), sources.end(),
                     [type](const ConstElements& s) { return s.type == type; });
}

SquaredSum MeasureInSteps(std::span<const ConstElements> sources, size_t offset,
                          size_t count, float scale, float* kept,
                          StoreHint hint) {
  alignas(64) float tile[kTileElements];
  SumGradientTile(sources, offset, count, scale, tile);
  if (kept != nullptr) {
    const MutableElements to{DataType::kFloat32, kept};
    StoreParameterTile(tile, count, {&to, 1}, 0, hint);
  }
  return TileSquaredSum(tile, count);
}

}  // namespace

SquaredSum SumAndMeasureTile(std::span<const ConstElements> sources,
                             size_t offset, size_t count, float scale,
                             float* kept, StoreHint hint) {
  if (!CanMeasureAtOnce(sources, count)) {
    return MeasureInSteps(sources, offset, count, scale, kept, hint);
  }
  const uint8_t* begins[kMaxMeasuredSources];
  const DataType type = sources[0].type;
  for (size_t s = 0; s < sources.size(); ++s) {
    begins[s] = static_cast<const uint8_t*>(sources[s].data) +
                offset * ElementSize(type);
  }
  double sums[kPartialSums];
  const bool lines = reinterpret_cast<uintptr_t>(kept) % 64 == 0;
  const MeasureTask task{
      .sources = begins,
      .source_count = sources.size(),
      .count = count,
      .scale = scale,
      .kept = kept,
      .stream = kept != nullptr && lines && hint == StoreHint::kStream,
      .partial_sums = sums};
  if (!HWY_DYNAMIC_DISPATCH(MeasureOnTarget)(type, task)) {
    return MeasureInSteps(sources, offset, count, scale, kept, hint);
  }
  for (size_t half = kPartialSums / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return {sums[0], std::isfinite(sums[0])};
}

}  // namespace rondo
#endif  // HWY_ONCE
