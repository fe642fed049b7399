#include "optimizer/kernels/adam_kernel.h"

#include "collectives/kernels/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizer/kernels/adam_kernel.cc"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file once for each target.
#include "hwy/highway.h"
#include "optimizer/kernels/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {
namespace {

// from + weight * (to - from), from the nearer end, as PyTorch does: with
// weight at least 1/2 it is to + (weight - 1) * (to - from), and weight - 1 is
// exact in float.
template <class D, class V>
HWY_INLINE V Lerp(D d, float weight, V from, V to) {
  const bool near_from = weight < 0.5f;
  const auto factor = hn::Set(d, near_from ? weight : weight - 1.0f);
  return hn::Add(near_from ? from : to, hn::Mul(factor, hn::Sub(to, from)));
}

template <class D, class V>
HWY_INLINE V WithL2Decay(D d, const AdamConstants& c, V g, V p) {
  // Asked, and not added as 0 * p: that would be NaN for an infinite p.
  if (c.l2_decay == 0) return g;
  return hn::Add(g, hn::Mul(hn::Set(d, c.l2_decay), p));
}

struct TorchStep {
  template <class D>
  HWY_INLINE void operator()(D d, const float* gradient, float* parameter,
                             float* const* states) const {
    using V = hn::VFromD<D>;
    const V stored = hn::LoadU(d, parameter);
    const V p = hn::Mul(stored, hn::Set(d, c.keep));
    const V g = WithL2Decay(d, c, hn::LoadU(d, gradient), p);
    const V m = Lerp(d, c.one_minus_beta1, hn::LoadU(d, states[0]), g);
    const V old_v = hn::LoadU(d, states[1]);
    const V part = hn::Mul(hn::Set(d, c.one_minus_beta2), g);
    const V v = hn::Add(hn::Mul(old_v, hn::Set(d, c.beta2)), hn::Mul(part, g));
    const V root = hn::Div(hn::Sqrt(v), hn::Set(d, c.root_correction2));
    const V denominator = hn::Add(root, hn::Set(d, c.epsilon));
    const V step =
        hn::Div(hn::Mul(hn::Set(d, c.negative_rate), m), denominator);
    hn::StoreU(m, d, states[0]);
    hn::StoreU(v, d, states[1]);
    hn::StoreU(hn::Add(p, step), d, parameter);
  }

  const AdamConstants c;
};

struct AccurateStep {
  template <class D>
  HWY_INLINE void operator()(D d, const float* gradient, float* parameter,
                             float* const* states) const {
    using V = hn::VFromD<D>;
    const V p = hn::LoadU(d, parameter);
    const V g = WithL2Decay(d, c, hn::LoadU(d, gradient), p);
    const V square = hn::Mul(g, g);
    const V m = Lerp(d, c.one_minus_beta1, hn::LoadU(d, states[0]), g);
    const V v = Lerp(d, c.one_minus_beta2, hn::LoadU(d, states[1]), square);
    const V corrected_m = hn::Mul(m, hn::Set(d, c.inverse_correction1));
    const V corrected_v = hn::Mul(v, hn::Set(d, c.inverse_correction2));
    const V denominator = hn::Add(hn::Sqrt(corrected_v), hn::Set(d, c.epsilon));
    const V direction = hn::Add(hn::Div(corrected_m, denominator),
                                hn::Mul(hn::Set(d, c.decay), p));
    const V step = hn::Mul(hn::Set(d, c.negative_rate), direction);
    hn::StoreU(m, d, states[0]);
    hn::StoreU(v, d, states[1]);
    hn::StoreU(hn::Add(p, step), d, parameter);
  }

  const AdamConstants c;
};

void AdamOnTarget(const AdamConstants& constants, const float* gradient,
                  float* parameter, float* const* states, size_t count) {
  if (constants.accurate) {
    ApplyElementwise<2>(AccurateStep{constants}, gradient, parameter, states,
                        count);
  } else {
    ApplyElementwise<2>(TorchStep{constants}, gradient, parameter, states,
                        count);
  }
}

}  // namespace
// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo {

HWY_EXPORT(AdamOnTarget);

void AdamTile(const AdamConstants& constants, const float* gradient,
              float* parameter, float* const* states, size_t count) {
  HWY_DYNAMIC_DISPATCH(AdamOnTarget)
  (constants, gradient, parameter, states, count);
}

}  // namespace rondo
#endif  // HWY_ONCE
