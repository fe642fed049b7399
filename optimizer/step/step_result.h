// What a step of a sharded optimizer is asked for, and what it tells.
//
// Thread-safety: values. Ownership: none. Failure: none.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(
//       StepResult result,
//       optimizer->Step(gradients, parameters, {.max_norm = 1.0}));
//   if (result.skipped) loss_scale /= 2;
#pragma once

#include <cstdint>

namespace rondo {

struct StepOptions {
  // Gradients are scaled down so that their global norm (over all parameters
  // that are not frozen, tied ones once) does not exceed it; 0: no clipping.
  double max_norm = 0;
  // What the loss was multiplied with: gradients are divided by it, above 0.
  double loss_scale = 1;
  // Skip the step where a gradient is an infinity or NaN. Clipping and a loss
  // scale other than 1 include it.
  bool skip_non_finite = false;
};

// Where the time of a step went, on this rank.
struct StepTimings {
  double total_us = 0;
  double reduce_us = 0;  // sums of gradients, where that is a pass of its own
  double norm_us = 0;    // adding up what ranks measured
  double update_us = 0;  // the rest: update, and gather unless it is separate
  double gather_us = 0;  // where it is separate
};

struct StepResult {
  int64_t step = 0;        // the number of this step, or of the last one made
  bool skipped = false;    // a gradient was not finite: nothing was changed
  bool finite = true;      // true also where nobody looked
  bool measured = false;   // whether `norm` and `finite` were looked at
  double norm = 0;         // of the mean (or sum), unscaled, before clipping
  double coefficient = 1;  // what clipping multiplied the gradients with
  StepTimings timings;
};

}  // namespace rondo
