// Known gradients, and the check of a sharded step against AdamW in double.
//
// Gradients are multiples of 1/128 between -1 and 1, exact in every type that a
// step takes, and differ by seed, step, rank and element. A parameter is right
// when it is within the bound that the reference derives for fp32 arithmetic,
// sums in the gradients' type, and one rounding to the parameters' type.
//
// Thread-safety: pure functions. Failure: none.
//
// Example:
//   FillGradients({.type = DataType::kBfloat16, .seed = 1, .step = 1}, rank,
//                 gradients, count);
//   int64_t wrong = CountOutside(check, parameters);
#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/kernels/data_type.h"
#include "optimizer/kernels/adamw.h"

namespace rondo::perf {

// Element `index` of rank `rank`'s gradient at `step`.
double TestGradient(uint64_t seed, int64_t step, int rank, size_t index);
// Element `index` of the parameters before the first step.
float TestInitial(uint64_t seed, size_t index);

// `type` is a floating-point type.
void FillGradients(DataType type, uint64_t seed, int64_t step, int rank,
                   void* gradients, size_t count);

struct StepCheck {
  uint64_t seed = 0;
  int64_t steps = 0;  // that were made from TestInitial
  int ranks = 1;
  size_t count = 0;
  DataType gradient_type = DataType::kFloat32;
  DataType parameter_type = DataType::kFloat32;
  AdamWHyper hyper;
};

// Of `check.count` parameters after `check.steps` steps on averaged gradients,
// how many are outside their bound (a NaN is).
int64_t CountOutside(const StepCheck& check, const void* parameters);

}  // namespace rondo::perf
