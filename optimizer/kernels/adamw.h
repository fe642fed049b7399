// AdamW for one element: the arithmetic that every path of Rondo uses.
//
// The order of operations is that of PyTorch's unfused Adam and AdamW
// (torch/optim/adam.py), here called torch_compat:
//
//   p *= 1 - lr * weight_decay          decoupled decay (AdamW)
//   g += weight_decay * p               otherwise (L2, classic Adam)
//   m  = lerp(m, g, 1 - beta1)
//   v  = v * beta2 + (1 - beta2) * g * g
//   denominator = sqrt(v) / sqrt(bias_correction2) + epsilon
//   p += (-lr / bias_correction1) * (m / denominator)
//
// with bias_correction = 1 - beta^step. State and arithmetic are fp32. The
// constants are computed in double and rounded once: 1 - 0.999f in float is off
// by 1.3e-5, which would show in v for the whole run.
//
// An element's result depends on its own values alone, never on its place in a
// shard or a chunk: there is one function for one element, and the build
// forbids the compiler to contract its operations (-ffp-contract=off).
//
// Thread-safety: pure functions and values. Ownership: none taken.
// Failure: CheckAdamWHyper() names the value, and what is accepted; the others
// take only what passed it.
//
// Example:
//   AdamWHyper hyper{.learning_rate = 3e-4};
//   RONDO_RETURN_IF_ERROR(CheckAdamWHyper(hyper));
//   AdamWConstants constants = MakeAdamWConstants(hyper, /*step=*/1);
//   for (size_t i = 0; i < n; ++i) {
//     AdamWElement(constants, gradient[i], &p[i], &m[i], &v[i]);
//   }
#pragma once

#include <cmath>
#include <cstdint>

#include "transports/base/status.h"

namespace rondo {

struct AdamWHyper {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  bool decoupled = true;  // false: decay is added to the gradient
};

// Learning rate and decay at least 0, betas in [0, 1), epsilon above 0 also as
// a float (0 would divide 0 by 0 where the gradients are 0).
Status CheckAdamWHyper(const AdamWHyper& hyper);

// What AdamWElement needs of the hyper-parameters at one step.
struct AdamWConstants {
  float keep = 1;                   // 1 - lr * weight_decay, decoupled
  float l2_decay = 0;               // weight_decay, not decoupled
  float beta1 = 0;                  // the part of m that stays
  float one_minus_beta1 = 1;        // the part of g that enters m
  float beta2 = 0;                  // the part of v that stays
  float one_minus_beta2 = 1;        // the part of g * g that enters v
  float sqrt_bias_correction2 = 1;  // sqrt(1 - beta2^step)
  float epsilon = 0;
  float negative_step_size = 0;  // -lr / (1 - beta1^step)
};

// `step` counts from 1. `decay` false leaves weight decay out.
AdamWConstants MakeAdamWConstants(const AdamWHyper& hyper, int64_t step,
                                  bool decay = true);

// Linear interpolation as PyTorch rounds it: from the nearer end.
inline float AdamWLerp(const AdamWConstants& constants, float m, float g) {
  return constants.one_minus_beta1 < 0.5f
             ? m + constants.one_minus_beta1 * (g - m)
             : g - (g - m) * constants.beta1;
}

// One step of one element: parameter p, first moment m, second moment v.
inline void AdamWElement(const AdamWConstants& constants, float g, float* p,
                         float* m, float* v) {
  const float kept = *p * constants.keep;
  g += constants.l2_decay * kept;
  *m = AdamWLerp(constants, *m, g);
  *v = *v * constants.beta2 + constants.one_minus_beta2 * g * g;
  const float denominator =
      std::sqrt(*v) / constants.sqrt_bias_correction2 + constants.epsilon;
  *p = kept + constants.negative_step_size * (*m / denominator);
}

}  // namespace rondo
