#include "optimizer/kernels/adam_fused.h"

#include <algorithm>
#include <cstdint>

#include "collectives/kernels/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizer/kernels/adam_fused.cc"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file once for each target.
#include "collectives/kernels/lanes-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "optimizer/kernels/adam_step-inl.h"
#include "optimizer/kernels/scaled-inl.h"

#ifndef RONDO_OPTIMIZER_KERNELS_ADAM_FUSED_ONCE_
#define RONDO_OPTIMIZER_KERNELS_ADAM_FUSED_ONCE_
namespace rondo {
namespace {

constexpr size_t kCacheLineBytes = 64;
constexpr size_t kMaxFusedArrays = 16;

// The arrays of an ElementUpdate from its first element on.
struct FusedArrays {
  const uint8_t* const* sources;
  size_t source_count;
  uint8_t* const* destinations;
  size_t destination_count;
  float* p;
  float* m;
  float* v;
  size_t count;
  float scale;
  bool stream;
};

}  // namespace
}  // namespace rondo
#endif  // RONDO_OPTIMIZER_KERNELS_ADAM_FUSED_ONCE_

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

using FloatFormat = PlainFormat<float>;

template <class Format, class D>
HWY_INLINE hn::VFromD<D> SumOfSources(D d, const FusedArrays& a, size_t i) {
  auto sum = Format::Load(d, a.sources[0] + i * Format::kElementBytes);
  for (size_t s = 1; s < a.source_count; ++s) {
    sum =
        hn::Add(sum, Format::Load(d, a.sources[s] + i * Format::kElementBytes));
  }
  return ScaledWithPlainNan(d, sum, a.scale);
}

template <class Format, bool kAccurate, bool kL2, class D>
HWY_INLINE hn::VFromD<D> UpdateVector(D d, const AdamConstants& c,
                                      const FusedArrays& a, size_t i) {
  const auto g = SumOfSources<Format>(d, a, i);
  auto p = hn::LoadU(d, a.p + i);
  auto m = hn::LoadU(d, a.m + i);
  auto v = hn::LoadU(d, a.v + i);
  AdamStep<kAccurate, kL2>(d, c, g, p, m, v);
  hn::StoreU(p, d, a.p + i);
  hn::StoreU(m, d, a.m + i);
  hn::StoreU(v, d, a.v + i);
  return p;
}

template <class D, class V>
HWY_INLINE void StoreWhole(bool stream, V v, D d, uint8_t* to) {
  if (stream) {
    const hn::Repartition<uint8_t, D> bytes;
    hn::Stream(hn::BitCast(bytes, v), bytes, to);
  } else {
    StoreBytes(v, d, to);
  }
}

// Two vectors as one of bfloat16.
template <class D, class V>
HWY_INLINE auto NarrowTwo(D d, V low, V high) {
  const hn::Repartition<uint16_t, D> both;
  const hn::Half<decltype(both)> half;
  const hn::RebindToSigned<D> di;
  const auto narrow = [&](V v) HWY_ATTR {
    const auto kept = hn::ShiftRight<16>(Bfloat16Format::Round(v, d));
    return hn::DemoteTo(half, hn::BitCast(di, kept));
  };
  return hn::Combine(both, narrow(high), narrow(low));
}

// A vector of parameters in its own type, or two narrowed to one.
template <class Source, class Target, bool kAccurate, bool kL2, class D>
HWY_INLINE auto UpdateAndRound(D d, const AdamConstants& c,
                               const FusedArrays& a, size_t i) {
  const auto p = UpdateVector<Source, kAccurate, kL2>(d, c, a, i);
  if constexpr (Target::kElementBytes == sizeof(float)) {
    return p;
  } else {
    const auto next =
        UpdateVector<Source, kAccurate, kL2>(d, c, a, i + hn::Lanes(d));
    return NarrowTwo(d, p, next);
  }
}

// Two vectors of the destination's type at a time, which are a cache line with
// 32-byte vectors: streamed stores want whole lines.
template <class Source, class Target, bool kAccurate, bool kL2>
size_t FusedLoop(const AdamConstants& constants, const FusedArrays& arrays) {
  const AdamConstants c = constants;
  const FusedArrays a = arrays;
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d) * sizeof(float) / Target::kElementBytes;
  size_t i = 0;
  for (; i + 2 * lanes <= a.count; i += 2 * lanes) {
    const auto first =
        UpdateAndRound<Source, Target, kAccurate, kL2>(d, c, a, i);
    const auto second =
        UpdateAndRound<Source, Target, kAccurate, kL2>(d, c, a, i + lanes);
    const hn::DFromV<decltype(first)> dt;
    for (size_t k = 0; k < a.destination_count; ++k) {
      uint8_t* const to = a.destinations[k] + i * Target::kElementBytes;
      StoreWhole(a.stream, first, dt, to);
      StoreWhole(a.stream, second, dt, to + lanes * Target::kElementBytes);
    }
  }
  return i;
}

template <class Source, class Target>
size_t FusedModes(const AdamConstants& constants, const FusedArrays& arrays) {
  const bool l2 = constants.l2_decay != 0;
  const auto run = constants.accurate
                       ? (l2 ? FusedLoop<Source, Target, true, true>
                             : FusedLoop<Source, Target, true, false>)
                       : (l2 ? FusedLoop<Source, Target, false, true>
                             : FusedLoop<Source, Target, false, false>);
  return run(constants, arrays);
}

template <class Source>
size_t FusedFrom(DataType to, const AdamConstants& constants,
                 const FusedArrays& arrays) {
  return to == DataType::kBfloat16
             ? FusedModes<Source, Bfloat16Format>(constants, arrays)
             : FusedModes<Source, FloatFormat>(constants, arrays);
}

size_t FusedOnTarget(DataType from, DataType to, const AdamConstants& constants,
                     const FusedArrays& arrays) {
  return from == DataType::kBfloat16
             ? FusedFrom<Bfloat16Format>(to, constants, arrays)
             : FusedFrom<FloatFormat>(to, constants, arrays);
}

#else

// The order of memory traffic does not matter to so slow a loop.
size_t FusedOnTarget(DataType, DataType, const AdamConstants&,
                     const FusedArrays&) {
  return 0;
}

#endif

}  // namespace
// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo {

HWY_EXPORT(FusedOnTarget);

namespace {

template <class Elements>
bool AreOfOneFusedType(std::span<const Elements> arrays) {
  if (arrays.empty() || arrays.size() > kMaxFusedArrays) return false;
  const DataType type = arrays[0].type;
  if (type != DataType::kFloat32 && type != DataType::kBfloat16) return false;
  return std::all_of(arrays.begin(), arrays.end(),
                     [&](const Elements& e) { return e.type == type; });
}

bool StartsAtLine(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % kCacheLineBytes == 0;
}

}  // namespace

size_t FusedAdam(const AdamConstants& constants, const ElementUpdate& update) {
  if (!AreOfOneFusedType(update.sources) ||
      !AreOfOneFusedType(update.destinations)) {
    return 0;
  }
  const DataType from = update.sources[0].type;
  const DataType to = update.destinations[0].type;
  const bool stream = update.hint == StoreHint::kStream;
  const uint8_t* sources[kMaxFusedArrays];
  uint8_t* destinations[kMaxFusedArrays];
  for (size_t i = 0; i < update.sources.size(); ++i) {
    sources[i] = static_cast<const uint8_t*>(update.sources[i].data) +
                 update.offset * ElementSize(from);
  }
  for (size_t i = 0; i < update.destinations.size(); ++i) {
    destinations[i] = static_cast<uint8_t*>(update.destinations[i].data) +
                      update.offset * ElementSize(to);
    if (stream && !StartsAtLine(destinations[i])) return 0;
  }
  const FusedArrays arrays{
      .sources = sources,
      .source_count = update.sources.size(),
      .destinations = destinations,
      .destination_count = update.destinations.size(),
      .p = update.parameter,
      .m = update.states[0],
      .v = update.states[1],
      .count = update.count,
      .scale = update.scale,
      .stream = stream,
  };
  return HWY_DYNAMIC_DISPATCH(FusedOnTarget)(from, to, constants, arrays);
}

}  // namespace rondo
#endif  // HWY_ONCE
