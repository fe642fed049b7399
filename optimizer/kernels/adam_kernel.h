// AdamTile: Adam's arithmetic on a range of elements, on the best vector unit.
//
// The bits are the same on every unit, for every position, count and alignment:
// every product and sum is rounded on its own (no fused operations, which older
// units lack), and the ragged end goes through the same code. adam_rule.h says
// what is computed.
//
// Thread-safety: safe on disjoint arrays. Ownership: none taken.
// Failure: none.
//
// Example:
//   const AdamConstants constants = MakeAdamConstants(hyper, step);
//   AdamTile(constants, gradient, parameter, states, count);
#pragma once

#include <cstddef>

namespace rondo {

// What one step needs of the hyper-parameters, rounded once from double.
struct AdamConstants {
  bool accurate = false;      // AdamMode::kAccurate
  float keep = 1;             // torch_compat, decoupled: 1 - lr * decay
  float decay = 0;            // accurate, decoupled: weight_decay
  float l2_decay = 0;         // not decoupled: weight_decay
  float one_minus_beta1 = 1;  // the part of g that enters m
  float one_minus_beta2 = 1;  // the part of g * g that enters v
  float beta2 = 0;            // the part of v that stays
  float epsilon = 0;          //
  // torch_compat: 1 / sqrt(1 - beta2^step)
  float inverse_root_correction2 = 1;
  float inverse_correction1 = 1;  // accurate: 1 / (1 - beta1^step)
  float inverse_correction2 = 1;  // accurate: 1 / (1 - beta2^step)
  float negative_rate = 0;  // accurate: -lr; torch_compat: that / correction1
};

// states[0] is m, the first moment; states[1] is v, the second.
void AdamTile(const AdamConstants& constants, const float* gradient,
              float* parameter, float* const* states, size_t count);

}  // namespace rondo
