#include "optimizer/kernels/momentum_kernels.h"

#include "collectives/kernels/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizer/kernels/momentum_kernels.cc"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file once for each target.
#include "hwy/highway.h"
#include "optimizer/kernels/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {
namespace {

struct SgdStep {
  template <class D>
  HWY_INLINE void operator()(D d, const float* gradient, float* parameter,
                             float* const* states) const {
    const auto p = hn::LoadU(d, parameter);
    auto g = hn::LoadU(d, gradient);
    // Asked, and not added as 0 * p: that would be NaN for an infinite p.
    if (c.decay != 0) g = hn::Add(g, hn::Mul(hn::Set(d, c.decay), p));
    if (c.has_momentum) {
      const auto kept = hn::Mul(hn::LoadU(d, states[0]), hn::Set(d, c.keep));
      const auto buffer = hn::Add(kept, hn::Mul(hn::Set(d, c.enter), g));
      hn::StoreU(buffer, d, states[0]);
      g = c.nesterov ? hn::Add(g, hn::Mul(hn::Set(d, c.momentum), buffer))
                     : buffer;
    }
    const auto step = hn::Mul(hn::Set(d, c.negative_rate), g);
    hn::StoreU(hn::Add(p, step), d, parameter);
  }

  const SgdConstants c;
};

struct LionStep {
  template <class D>
  HWY_INLINE void operator()(D d, const float* gradient, float* parameter,
                             float* const* states) const {
    using V = hn::VFromD<D>;
    const V p = hn::LoadU(d, parameter);
    const V g = hn::LoadU(d, gradient);
    const V m = hn::LoadU(d, states[0]);
    const V mixed = hn::Add(hn::Mul(hn::Set(d, c.beta1), m),
                            hn::Mul(hn::Set(d, c.one_minus_beta1), g));
    // 0 and NaN are their own sign.
    const V zero = hn::Zero(d);
    const V not_below =
        hn::IfThenElse(hn::Gt(mixed, zero), hn::Set(d, 1.0f), mixed);
    const V sign =
        hn::IfThenElse(hn::Lt(mixed, zero), hn::Set(d, -1.0f), not_below);
    const V direction = hn::Add(sign, hn::Mul(hn::Set(d, c.decay), p));
    const V step = hn::Mul(hn::Set(d, c.negative_rate), direction);
    const V new_m = hn::Add(hn::Mul(hn::Set(d, c.beta2), m),
                            hn::Mul(hn::Set(d, c.one_minus_beta2), g));
    hn::StoreU(new_m, d, states[0]);
    hn::StoreU(hn::Add(p, step), d, parameter);
  }

  const LionConstants c;
};

void SgdOnTarget(const SgdConstants& constants, const float* gradient,
                 float* parameter, float* const* states, size_t count) {
  if (constants.has_momentum) {
    ApplyElementwise<1>(SgdStep{constants}, gradient, parameter, states, count);
  } else {
    ApplyElementwise<0>(SgdStep{constants}, gradient, parameter, states, count);
  }
}

void LionOnTarget(const LionConstants& constants, const float* gradient,
                  float* parameter, float* const* states, size_t count) {
  ApplyElementwise<1>(LionStep{constants}, gradient, parameter, states, count);
}

}  // namespace
// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo {

HWY_EXPORT(SgdOnTarget);
HWY_EXPORT(LionOnTarget);

void SgdTile(const SgdConstants& constants, const float* gradient,
             float* parameter, float* const* states, size_t count) {
  HWY_DYNAMIC_DISPATCH(SgdOnTarget)
  (constants, gradient, parameter, states, count);
}

void LionTile(const LionConstants& constants, const float* gradient,
              float* parameter, float* const* states, size_t count) {
  HWY_DYNAMIC_DISPATCH(LionOnTarget)
  (constants, gradient, parameter, states, count);
}

}  // namespace rondo
#endif  // HWY_ONCE
