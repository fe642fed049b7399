#include "perf/step/limit_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "perf/step/limit_kernel.cc"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file once for each target.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace rondo::perf {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes32 = hn::ScalableTag<uint32_t>;
using Vector = hn::VFromD<Lanes32>;

template <size_t kBytes>
HWY_INLINE Vector LoadElements(Lanes32 d, const std::byte* from) {
  if constexpr (kBytes == 4) {
    return hn::Load(d, reinterpret_cast<const uint32_t*>(from));
  } else {
    const hn::Rebind<uint16_t, Lanes32> d16;
    return hn::PromoteTo(
        d, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
  }
}

template <size_t kBytes>
HWY_INLINE void StoreElements(Vector v, Lanes32 d, std::byte* to) {
  if constexpr (kBytes == 4) {
    hn::Store(v, d, reinterpret_cast<uint32_t*>(to));
  } else {
    const hn::Rebind<uint16_t, Lanes32> d16;
    const hn::RebindToSigned<Lanes32> di;
    const auto low = hn::And(v, hn::Set(d, 0xffff));
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, low)), d16,
               reinterpret_cast<uint16_t*>(to));
  }
}

// Elements that are done before the next ones, and how.
struct Block {
  size_t begin;
  size_t count;
  size_t prefetch_bytes;
};

HWY_INLINE void Prefetch(const void* from, const Block& block) {
  if (block.prefetch_bytes == 0) return;
  hwy::Prefetch(static_cast<const std::byte*>(from) + block.prefetch_bytes);
}

template <size_t kGradientBytes>
HWY_INLINE void SumGradients(const LimitArrays& arrays, const Block& block,
                             uint32_t* sum) {
  const Lanes32 d;
  for (size_t source = 0; source < arrays.gradients.size(); ++source) {
    const std::byte* from =
        arrays.gradients[source] + block.begin * kGradientBytes;
    for (size_t i = 0; i < block.count; i += hn::Lanes(d)) {
      Prefetch(from + i * kGradientBytes, block);
      auto v = LoadElements<kGradientBytes>(d, from + i * kGradientBytes);
      if (source > 0) v = hn::Add(v, hn::Load(d, sum + i));
      hn::Store(v, d, sum + i);
    }
  }
}

template <size_t kParameterBytes>
HWY_INLINE void UpdateState(const LimitArrays& arrays, const Block& block,
                            const uint32_t* sum, std::byte* result) {
  const Lanes32 d;
  uint32_t* const master = arrays.master + block.begin;
  uint32_t* const first = arrays.first_moment + block.begin;
  uint32_t* const second = arrays.second_moment + block.begin;
  for (size_t i = 0; i < block.count; i += hn::Lanes(d)) {
    Prefetch(master + i, block);
    Prefetch(first + i, block);
    Prefetch(second + i, block);
    const auto g = hn::Load(d, sum + i);
    const auto m = hn::Add(hn::Load(d, first + i), g);
    const auto v = hn::Add(hn::Load(d, second + i), g);
    const auto p = hn::Add(hn::Load(d, master + i), hn::Xor(m, v));
    hn::Store(m, d, first + i);
    hn::Store(v, d, second + i);
    hn::Store(p, d, master + i);
    StoreElements<kParameterBytes>(p, d, result + i * kParameterBytes);
  }
}

HWY_INLINE void StreamResult(const std::byte* result, size_t bytes,
                             std::byte* to) {
  const hn::ScalableTag<uint8_t> d;
  const auto* const from = reinterpret_cast<const uint8_t*>(result);
  for (size_t i = 0; i < bytes; i += hn::Lanes(d)) {
    hn::Stream(hn::Load(d, from + i), d, reinterpret_cast<uint8_t*>(to) + i);
  }
}

template <size_t kGradientBytes, size_t kParameterBytes>
void RunLoop(const LimitArrays& arrays, const LimitWay& way) {
  HWY_ALIGN uint32_t sum[kLimitBlockElements];
  HWY_ALIGN std::byte result[kLimitBlockElements * kParameterBytes];
  Block block{0, 0, way.prefetch_bytes};
  for (; block.begin < arrays.count; block.begin += block.count) {
    block.count = HWY_MIN(way.block_elements, arrays.count - block.begin);
    SumGradients<kGradientBytes>(arrays, block, sum);
    UpdateState<kParameterBytes>(arrays, block, sum, result);
    for (std::byte* to : arrays.parameters) {
      StreamResult(result, block.count * kParameterBytes,
                   to + block.begin * kParameterBytes);
    }
  }
  hwy::FlushStream();
}

void RunOnTarget(const LimitArrays& arrays, const LimitWay& way) {
  const bool narrow_gradient = arrays.gradient_bytes == 2;
  const bool narrow_parameter = arrays.parameter_bytes == 2;
  if (narrow_gradient && narrow_parameter) return RunLoop<2, 2>(arrays, way);
  if (narrow_gradient) return RunLoop<2, 4>(arrays, way);
  if (narrow_parameter) return RunLoop<4, 2>(arrays, way);
  RunLoop<4, 4>(arrays, way);
}

}  // namespace
// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo::perf
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo::perf {

HWY_EXPORT(RunOnTarget);

void RunLimitLoop(const LimitArrays& arrays, const LimitWay& way) {
  HWY_DYNAMIC_DISPATCH(RunOnTarget)(arrays, way);
}

size_t LimitBytes(const LimitArrays& arrays) {
  constexpr size_t kStates = 3;
  return arrays.count * (arrays.gradients.size() * arrays.gradient_bytes +
                         2 * kStates * sizeof(uint32_t) +
                         arrays.parameters.size() * arrays.parameter_bytes);
}

}  // namespace rondo::perf
#endif  // HWY_ONCE
