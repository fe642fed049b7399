// Applies a rule's arithmetic to whole vectors, and to the ragged end alike.
//
// `Step` is a functor over one vector of a gradient, a parameter and states,
// given by address. The end of a tile that fills no vector is copied into
// one, so that the same instructions compute every element and no result
// depends on its place.
//
// Included once per Highway target (see foreach_target.h), hence the guard.
//
// Thread-safety: pure functions. Ownership: none. Failure: none.
//
// Example:
//   struct DescentStep {
//     float rate;
//     template <class D>
//     HWY_INLINE void operator()(D d, const float* g, float* p,
//                                float* const*) const { ... }
//   };
//   ApplyElementwise<0>(DescentStep{rate}, gradient, parameter, states, count);
#if defined(RONDO_OPTIMIZER_KERNELS_ELEMENTWISE_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef RONDO_OPTIMIZER_KERNELS_ELEMENTWISE_INL_H_
#undef RONDO_OPTIMIZER_KERNELS_ELEMENTWISE_INL_H_
#else
#define RONDO_OPTIMIZER_KERNELS_ELEMENTWISE_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <int kStates, class Step>
HWY_INLINE void ApplyElementwise(const Step& step, const float* gradient,
                                 float* parameter, float* const* states,
                                 size_t count) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  float* state[kStates + 1] = {};
  for (int s = 0; s < kStates; ++s) state[s] = states[s];
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    float* at[kStates + 1] = {};
    for (int s = 0; s < kStates; ++s) at[s] = state[s] + i;
    step(d, gradient + i, parameter + i, at);
  }
  if (i == count) return;
  constexpr size_t kMaxLanes = hn::MaxLanes(d);
  alignas(64) float ragged[kStates + 2][kMaxLanes] = {};
  float* at[kStates + 1] = {};
  std::copy_n(gradient + i, count - i, ragged[0]);
  std::copy_n(parameter + i, count - i, ragged[1]);
  for (int s = 0; s < kStates; ++s) {
    at[s] = ragged[2 + s];
    std::copy_n(state[s] + i, count - i, at[s]);
  }
  step(d, ragged[0], ragged[1], at);
  std::copy_n(ragged[1], count - i, parameter + i);
  for (int s = 0; s < kStates; ++s) {
    std::copy_n(at[s], count - i, state[s] + i);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo
HWY_AFTER_NAMESPACE();

#endif  // RONDO_OPTIMIZER_KERNELS_ELEMENTWISE_INL_H_
