#include "optimizer/kernels/adam_kernel.h"

#include "collectives/kernels/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizer/kernels/adam_kernel.cc"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file once for each target.
#include "hwy/highway.h"
#include "optimizer/kernels/adam_step-inl.h"
#include "optimizer/kernels/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {
namespace {

template <bool kAccurate, bool kL2>
struct StepInMemory {
  template <class D>
  HWY_INLINE void operator()(D d, const float* gradient, float* parameter,
                             float* const* states) const {
    auto p = hn::LoadU(d, parameter);
    auto m = hn::LoadU(d, states[0]);
    auto v = hn::LoadU(d, states[1]);
    AdamStep<kAccurate, kL2>(d, constants, hn::LoadU(d, gradient), p, m, v);
    hn::StoreU(p, d, parameter);
    hn::StoreU(m, d, states[0]);
    hn::StoreU(v, d, states[1]);
  }

  const AdamConstants constants;
};

template <bool kAccurate, bool kL2>
void RunMode(const AdamConstants& constants, const float* gradient,
             float* parameter, float* const* states, size_t count) {
  const StepInMemory<kAccurate, kL2> step{constants};
  ApplyElementwise<2>(step, gradient, parameter, states, count);
}

void AdamOnTarget(const AdamConstants& constants, const float* gradient,
                  float* parameter, float* const* states, size_t count) {
  const bool l2 = constants.l2_decay != 0;
  const auto run = constants.accurate
                       ? (l2 ? RunMode<true, true> : RunMode<true, false>)
                       : (l2 ? RunMode<false, true> : RunMode<false, false>);
  run(constants, gradient, parameter, states, count);
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
