// The printer: a shape as text that a person reads, as JSON, and as a Chrome
// trace of its dependency levels.
//
// Thread-safety: pure functions. A shape need not be valid to be printed: the
// trace shows what is reached before the ranks are stuck. A shape without
// for_rank has no programs to show.
//
// Example:  fmt::print("{}", ShapeToText(RingAllGather(order), facts));
#pragma once

#include <string>

#include "collectives/plan/plan.h"
#include "collectives/plan/step_text.h"
#include "collectives/plan/verifier.h"

namespace rondo {

// The whole plan: a summary line with the proved facts, then every rank's
// program. `facts` may be null (not verified).
std::string ShapeToText(const Shape& shape, const PlanFacts* facts);

// {"collective", "algorithm", "ranks", "root", "rails", "verified", "facts":
//  {...}, "programs": [{"rank", "scratch_blocks", "prologue": [steps], ...}]}
std::string ShapeToJson(const Shape& shape, const PlanFacts* facts);

// For chrome://tracing or Perfetto: one row per rank, one tick (a millisecond
// there) per dependency level, as if every transfer took one tick and nothing
// else any time. The steps that a rank does in one tick share it in the order
// of the program. Waits are not shown.
std::string ShapeToChromeTrace(const Shape& shape);

}  // namespace rondo
