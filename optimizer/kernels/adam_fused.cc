#include "optimizer/kernels/adam_fused.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

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
  float coefficient;
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

// kSources: how many there are; 0 for any number.
template <class Format, int kSources, class D>
HWY_INLINE hn::VFromD<D> SumOfSources(D d, const FusedArrays& a, size_t i) {
  const size_t at = i * Format::kElementBytes;
  auto sum = Format::Load(d, a.sources[0] + at);
  if constexpr (kSources == 1) return sum;
  if constexpr (kSources == 2) {
    return hn::Add(sum, Format::Load(d, a.sources[1] + at));
  }
  for (size_t s = 1; s < a.source_count; ++s) {
    sum = hn::Add(sum, Format::Load(d, a.sources[s] + at));
  }
  return sum;
}

template <class D, class V>
HWY_INLINE void StoreTwo(FloatFormat, D d, V a, V b, uint8_t* to) {
  StoreBytes(a, d, to);
  StoreBytes(b, d, to + hn::Lanes(d) * sizeof(float));
}

// Bfloat16Format::Round() without its care for NaN, of which there is none.
template <class D, class V>
HWY_INLINE auto RoundNumber(D d, V v) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  return hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff)));
}

template <class D, class V>
HWY_INLINE void StoreTwo(Bfloat16Format, D d, V a, V b, uint8_t* to) {
  const hn::Repartition<uint16_t, D> both;
  // The upper halves of all lanes.
  StoreBytes(hn::ConcatOdd(both, hn::BitCast(both, RoundNumber(d, b)),
                           hn::BitCast(both, RoundNumber(d, a))),
             both, to);
}

// One vector of elements where something is NaN: with all the care that the
// tile kernels take. Rare, hence out of the loop.
template <class Source, class Target, bool kAccurate>
HWY_NOINLINE void UpdateWithNan(const AdamConstants& c, const FusedArrays& a,
                                size_t i, uint8_t* to) {
  const hn::ScalableTag<float> d;
  const auto sum = SumOfSources<Source, 0>(d, a, i);
  auto p = hn::LoadU(d, a.p + i);
  auto m = hn::LoadU(d, a.m + i);
  auto v = hn::LoadU(d, a.v + i);
  const auto scaled = ScaledWithPlainNan(d, sum, a.scale);
  AdamStep<kAccurate, false>(d, c, ScaledWithPlainNan(d, scaled, a.coefficient),
                             p, m, v);
  hn::StoreU(p, d, a.p + i);
  hn::StoreU(m, d, a.m + i);
  hn::StoreU(v, d, a.v + i);
  Target::Store(p, d, to);
}

// Two vectors at a time. How many instructions an element takes decides how
// many cache misses the processor can see ahead, and so the speed. Hence the
// one test: a NaN in the gradient, or anywhere else, makes the parameter NaN,
// and nothing is stored before the sum of two parameters shows none. (It
// may be NaN for two infinities: then care is taken in vain.)
template <class Source, class Target, int kSources, bool kAccurate>
HWY_INLINE void UpdateBlock(const AdamConstants& constants,
                            const FusedArrays& arrays, size_t begin,
                            size_t count, uint8_t* result) {
  const AdamConstants c = constants;
  const FusedArrays a = arrays;
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const auto scale = hn::Set(d, a.scale);
  const auto coefficient = hn::Set(d, a.coefficient);
  for (size_t i = begin; i < begin + count; i += 2 * lanes) {
    const size_t j = i + lanes;
    uint8_t* const to = result + (i - begin) * Target::kElementBytes;
    auto p0 = hn::LoadU(d, a.p + i), p1 = hn::LoadU(d, a.p + j);
    auto m0 = hn::LoadU(d, a.m + i), m1 = hn::LoadU(d, a.m + j);
    auto v0 = hn::LoadU(d, a.v + i), v1 = hn::LoadU(d, a.v + j);
    auto g0 = hn::Mul(SumOfSources<Source, kSources>(d, a, i), scale);
    auto g1 = hn::Mul(SumOfSources<Source, kSources>(d, a, j), scale);
    g0 = hn::Mul(g0, coefficient);
    g1 = hn::Mul(g1, coefficient);
    AdamStep<kAccurate, false>(d, c, g0, p0, m0, v0);
    AdamStep<kAccurate, false>(d, c, g1, p1, m1, v1);
    if (HWY_UNLIKELY(!hn::AllFalse(d, hn::IsNaN(hn::Add(p0, p1))))) {
      UpdateWithNan<Source, Target, kAccurate>(constants, arrays, i, to);
      UpdateWithNan<Source, Target, kAccurate>(
          constants, arrays, j, to + lanes * Target::kElementBytes);
      continue;
    }
    hn::StoreU(p0, d, a.p + i);
    hn::StoreU(m0, d, a.m + i);
    hn::StoreU(v0, d, a.v + i);
    hn::StoreU(p1, d, a.p + j);
    hn::StoreU(m1, d, a.m + j);
    hn::StoreU(v1, d, a.v + j);
    StoreTwo(Target(), d, p0, p1, to);
  }
}

// In blocks whose results go to the destinations one after the other: streams
// that take turns by half a cache line compete for the few buffers in which
// lines are put together, and cost a quarter of the speed.
template <class Source, class Target, int kSources, bool kAccurate>
size_t FusedLoop(const AdamConstants& constants, const FusedArrays& arrays) {
  constexpr size_t kBlock = 1024;
  HWY_ALIGN uint8_t result[kBlock * Target::kElementBytes];
  const size_t two = 2 * hn::Lanes(hn::ScalableTag<float>());
  const size_t whole = arrays.count / two * two;
  for (size_t begin = 0; begin < whole; begin += kBlock) {
    const size_t count = HWY_MIN(kBlock, whole - begin);
    UpdateBlock<Source, Target, kSources, kAccurate>(constants, arrays, begin,
                                                     count, result);
    const size_t bytes = count * Target::kElementBytes;
    for (size_t k = 0; k < arrays.destination_count; ++k) {
      uint8_t* const to =
          arrays.destinations[k] + begin * Target::kElementBytes;
      if (arrays.stream) {
        StreamBytes(result, bytes, to);
      } else {
        std::memcpy(to, result, bytes);
      }
    }
  }
  return whole;
}

template <class Source, class Target, bool kAccurate>
size_t FusedSources(const AdamConstants& constants, const FusedArrays& arrays) {
  switch (arrays.source_count) {
    case 1:
      return FusedLoop<Source, Target, 1, kAccurate>(constants, arrays);
    case 2:
      return FusedLoop<Source, Target, 2, kAccurate>(constants, arrays);
    default:
      return FusedLoop<Source, Target, 0, kAccurate>(constants, arrays);
  }
}

template <class Source, class Target>
size_t FusedModes(const AdamConstants& constants, const FusedArrays& arrays) {
  return constants.accurate
             ? FusedSources<Source, Target, true>(constants, arrays)
             : FusedSources<Source, Target, false>(constants, arrays);
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
  if (constants.l2_decay != 0 || !AreOfOneFusedType(update.sources) ||
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
      .coefficient = update.coefficient,
      .stream = stream,
  };
  return HWY_DYNAMIC_DISPATCH(FusedOnTarget)(from, to, constants, arrays);
}

}  // namespace rondo
#endif  // HWY_ONCE
