// The part of the proof that needs no execution: every step is well formed, and
// every transfer and flag has exactly one counterpart and one wait.
//
// Thread-safety: pure functions. Failure: kInvalidArgument; the message names
// the rank, the step and what is wrong.
//
// Example:
//   RONDO_RETURN_IF_ERROR(CheckShapeFields(shape));
//   RONDO_RETURN_IF_ERROR(CheckStructure(shape, Programs::Of(shape)));
#pragma once

#include "collectives/plan/plan.h"
#include "collectives/plan/programs.h"
#include "transports/base/status.h"

namespace rondo {

// Ranks that one proof covers at most: it holds every rank's view of every
// other in memory.
inline constexpr int kMaxVerifiedRanks = 4096;

// Ranks, root, rails and the presence of for_rank: before any program is built.
Status CheckShapeFields(const Shape& shape);

Status CheckStructure(const Shape& shape, const Programs& programs);

}  // namespace rondo
