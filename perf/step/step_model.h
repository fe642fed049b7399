// The model whose step is measured: its arrays, and what its optimizer is told.
//
// Thread-safety: pure functions. Failure: none; ShardedOptimizer::Create()
// refuses what it does not accept.
//
// Example:
//   const ShardedOptimizerOptions fused =
//       StepOptimizerOptions(options, StepSchedule::kFused);
#pragma once

#include <vector>

#include "optimizer/kernels/adam_rule.h"
#include "optimizer/layout/layout_parameter.h"
#include "optimizer/sharded_optimizer.h"
#include "perf/step/step_options.h"

namespace rondo::perf {

std::vector<LayoutParameter> StepParameters(
    const StepBenchmarkOptions& options);

// Of each group: weights decay, biases and norms do not. The epsilon is large
// on purpose: a tiny one makes the quotient of two moments near zero a coin
// toss in any fp32 arithmetic, and its bound useless. It takes the same time.
std::vector<AdamHyper> StepHypers();

ShardedOptimizerOptions StepOptimizerOptions(
    const StepBenchmarkOptions& options, StepSchedule schedule);

}  // namespace rondo::perf
