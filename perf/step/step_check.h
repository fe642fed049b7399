// Known gradients, and the check of a sharded step against Adam in double.
//
// Gradients are multiples of 1/128 between -1 and 1, exact in every type that a
// step takes, and differ by seed, rank and element. Every step reads the same
// array, each one kStepShift elements further on, so that an element's gradient
// differs from step to step and the array is filled once. A parameter is right
// when it is within the bound that the reference derives for fp32 arithmetic,
// sums in the gradients' type, and one rounding to the parameters' type.
//
// Thread-safety: pure functions. Failure: none.
//
// Example:
//   FillGradients(DataType::kBfloat16, seed, rank, gradients, count);
//   int64_t wrong = CountOutside(check, hyper, first, count, parameters);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/kernels/data_type.h"
#include "optimizer/kernels/adam_rule.h"

namespace rondo::perf {

inline constexpr size_t kStepShift = 1024;

// Element `index` of rank `rank`'s array of gradients.
double TestGradient(uint64_t seed, int rank, size_t index);
// Element `index` of the parameters before the first step.
float TestInitial(uint64_t seed, size_t index);

// `type` is a floating-point type.
void FillGradients(DataType type, uint64_t seed, int rank, void* gradients,
                   size_t count);

struct StepCheck {
  uint64_t seed = 0;
  int ranks = 1;
  DataType gradient_type = DataType::kFloat32;
  DataType parameter_type = DataType::kFloat32;
  // What clipping multiplied the averaged gradients with, for each step that
  // was made from TestInitial; 1 without clipping.
  std::vector<double> coefficients;
};

// The sum of squares of the averaged gradients of step `step` (from 1) over
// elements first .. first + count - 1.
double SquaredNorm(const StepCheck& check, int step, size_t first,
                   size_t count);

// How far a norm, as a fraction of it, may be off in the step's arithmetic.
double NormTolerance(const StepCheck& check);

// How many of the parameters first .. first + count - 1, which lie at
// `parameters`, are outside their bound (a NaN is).
int64_t CountOutside(const StepCheck& check, const AdamHyper& hyper,
                     size_t first, size_t count, const void* parameters);

}  // namespace rondo::perf
