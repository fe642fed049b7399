// Adam's arithmetic on one vector of elements; adam_rule.h says what it is.
//
// Shared by the kernel that works on tiles and the one that is fused with the
// gradients' sum, which must give the same bits: every product and sum is
// rounded on its own, in this order.
//
// Included once per Highway target (see foreach_target.h), hence the guard.
//
// Thread-safety: pure functions. Ownership: none. Failure: none.
//
// Example:
//   AdamStep<kAccurate, kL2>(d, constants, g, p, m, v);  // updates p, m, v
#if defined(RONDO_OPTIMIZER_KERNELS_ADAM_STEP_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef RONDO_OPTIMIZER_KERNELS_ADAM_STEP_INL_H_
#undef RONDO_OPTIMIZER_KERNELS_ADAM_STEP_INL_H_
#else
#define RONDO_OPTIMIZER_KERNELS_ADAM_STEP_INL_H_
#endif

#include "hwy/highway.h"
#include "optimizer/kernels/adam_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// from + weight * (to - from), from the nearer end, as PyTorch does: with
// weight at least 1/2 it is to + (weight - 1) * (to - from), and weight - 1 is
// exact in float.
template <class D, class V>
HWY_INLINE V Lerp(D d, float weight, V from, V to) {
  const bool near_from = weight < 0.5f;
  const auto factor = hn::Set(d, near_from ? weight : weight - 1.0f);
  // A blend of vectors: a choice between variables puts them into memory.
  const auto is_near_from =
      hn::Eq(hn::Set(d, near_from ? 1.0f : 0.0f), hn::Set(d, 1.0f));
  const V near = hn::IfThenElse(is_near_from, from, to);
  return hn::Add(near, hn::Mul(factor, hn::Sub(to, from)));
}

// kL2: weight decay that is added to the gradient. It is never added as 0 * p,
// which would be NaN for an infinite p.
template <bool kL2, class D, class V>
HWY_INLINE void TorchAdamStep(D d, const AdamConstants& c, V g, V& p, V& m,
                              V& v) {
  const V kept = hn::Mul(p, hn::Set(d, c.keep));
  if (kL2) g = hn::Add(g, hn::Mul(hn::Set(d, c.l2_decay), kept));
  m = Lerp(d, c.one_minus_beta1, m, g);
  const V part = hn::Mul(hn::Set(d, c.one_minus_beta2), g);
  v = hn::Add(hn::Mul(v, hn::Set(d, c.beta2)), hn::Mul(part, g));
  const V root = hn::Mul(hn::Sqrt(v), hn::Set(d, c.inverse_root_correction2));
  const V denominator = hn::Add(root, hn::Set(d, c.epsilon));
  const V step = hn::Div(hn::Mul(hn::Set(d, c.negative_rate), m), denominator);
  p = hn::Add(kept, step);
}

template <bool kL2, class D, class V>
HWY_INLINE void AccurateAdamStep(D d, const AdamConstants& c, V g, V& p, V& m,
                                 V& v) {
  if (kL2) g = hn::Add(g, hn::Mul(hn::Set(d, c.l2_decay), p));
  m = Lerp(d, c.one_minus_beta1, m, g);
  v = Lerp(d, c.one_minus_beta2, v, hn::Mul(g, g));
  const V corrected_m = hn::Mul(m, hn::Set(d, c.inverse_correction1));
  const V corrected_v = hn::Mul(v, hn::Set(d, c.inverse_correction2));
  const V denominator = hn::Add(hn::Sqrt(corrected_v), hn::Set(d, c.epsilon));
  const V direction = hn::Add(hn::Div(corrected_m, denominator),
                              hn::Mul(hn::Set(d, c.decay), p));
  p = hn::Add(p, hn::Mul(hn::Set(d, c.negative_rate), direction));
}

template <bool kAccurate, bool kL2, class D, class V>
HWY_INLINE void AdamStep(D d, const AdamConstants& c, V g, V& p, V& m, V& v) {
  if constexpr (kAccurate) {
    AccurateAdamStep<kL2>(d, c, g, p, m, v);
  } else {
    TorchAdamStep<kL2>(d, c, g, p, m, v);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo
HWY_AFTER_NAMESPACE();

#endif  // RONDO_OPTIMIZER_KERNELS_ADAM_STEP_INL_H_
