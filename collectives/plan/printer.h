// The printer: a shape as text that a person reads, as JSON, and as a Chrome
// trace of its dependency levels.
//
// Thread-safety: pure functions. A shape need not be valid to be printed.
//
// Example:  fmt::print("{}", ShapeToText(RingAllGather(order), facts));
#pragma once

#include <string>

#include "collectives/plan/plan.h"
#include "collectives/plan/verifier.h"

namespace rondo {

// One step on one line: "send  output[2] -> rank 3 (message 0)".
std::string StepToText(const Step& step, int rank);

// The whole plan: a summary line with the proved facts, then every rank's
// program. `facts` may be null (not verified).
std::string ShapeToText(const Shape& shape, const PlanFacts* facts);

// {"collective", "algorithm", "ranks", "root", "rails", "verified", "facts":
//  {...}, "programs": [{"rank", "scratch_blocks", "prologue": [steps], ...}]}
std::string ShapeToJson(const Shape& shape, const PlanFacts* facts);

}  // namespace rondo
