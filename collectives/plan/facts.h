// What a plan moves, counted from its steps alone.
//
// Thread-safety: pure function. The programs must have passed CheckStructure.
//
// Example:
//   PlanFacts facts = CountFacts(programs, schedule);
#pragma once

#include "collectives/plan/programs.h"
#include "collectives/plan/schedule.h"
#include "collectives/plan/verifier.h"

namespace rondo {

PlanFacts CountFacts(const Programs& programs, const Schedule& schedule);

}  // namespace rondo
