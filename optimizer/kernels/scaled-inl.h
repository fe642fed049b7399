// How a sum of gradients is scaled: what all kernels that sum them share.
//
// Included once per Highway target (see foreach_target.h), hence the guard.
//
// Thread-safety: pure functions. Ownership: none. Failure: none.
//
// Example:
//   const auto g = ScaledWithPlainNan(d, hn::Add(mine, theirs), scale);
#if defined(RONDO_OPTIMIZER_KERNELS_SCALED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef RONDO_OPTIMIZER_KERNELS_SCALED_INL_H_
#undef RONDO_OPTIMIZER_KERNELS_SCALED_INL_H_
#else
#define RONDO_OPTIMIZER_KERNELS_SCALED_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// v * scale. A NaN becomes the positive quiet one without payload: which
// payload survives an addition differs between processors.
template <class D, class V>
HWY_INLINE V ScaledWithPlainNan(D d, V v, float scale) {
  const V scaled = hn::Mul(v, hn::Set(d, scale));
  const auto nan =
      hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), uint32_t{0x7fc00000}));
  return hn::IfThenElse(hn::Eq(scaled, scaled), scaled, nan);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo
HWY_AFTER_NAMESPACE();

#endif  // RONDO_OPTIMIZER_KERNELS_SCALED_INL_H_
