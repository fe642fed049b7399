// MeasureHost: what the ways to move data cost between these ranks.
//
// Real calls of two sizes, each way, all ranks together; the slowest rank
// counts, so that every rank ends with the same numbers. A few hundred
// microseconds while the ranks have cores, milliseconds when they share them.
//
// Thread-safety: collective; before the engine runs calls of others. Failure:
// the engine's.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(HostCosts costs, MeasureHost(engine, deadline));
//   engine->UseCosts(costs);
#pragma once

#include "collectives/engine/engine.h"
#include "collectives/planner/host_choice.h"
#include "transports/base/clock.h"
#include "transports/base/status.h"

namespace rondo {

// Only where the engine has a choice to make; else typical costs.
Result<HostCosts> MeasureHost(Engine* engine, Deadline deadline);
// The ring's as well, which never is the choice inside a host: for people.
Result<LinearCost> MeasureRing(Engine* engine, Deadline deadline);

}  // namespace rondo
