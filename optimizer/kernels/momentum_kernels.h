// SgdTile and LionTile: their arithmetic on a range of elements.
//
// Vectorised, the unit chosen at run time; the same bits on every unit, for
// every position, count and alignment. sgd_rule.h and lion_rule.h say what is
// computed.
//
// Thread-safety: safe on disjoint arrays. Ownership: none taken.
// Failure: none.
//
// Example:
//   LionTile(constants, gradient, parameter, states, count);
#pragma once

#include <cstddef>

namespace rondo {

// Rounded once from double.
struct SgdConstants {
  bool has_momentum = false;  // there is a buffer, states[0]
  bool nesterov = false;
  float decay = 0;          // weight_decay
  float keep = 0;           // the part of the buffer that stays; 0 at step 1
  float enter = 1;          // the part of the gradient that enters it
  float momentum = 0;       // of Nesterov's look ahead
  float negative_rate = 0;  // -learning_rate
};

void SgdTile(const SgdConstants& constants, const float* gradient,
             float* parameter, float* const* states, size_t count);

struct LionConstants {
  float beta1 = 0;
  float one_minus_beta1 = 1;
  float beta2 = 0;
  float one_minus_beta2 = 1;
  float decay = 0;          // weight_decay
  float negative_rate = 0;  // -learning_rate
};

// states[0] is the momentum.
void LionTile(const LionConstants& constants, const float* gradient,
              float* parameter, float* const* states, size_t count);

}  // namespace rondo
