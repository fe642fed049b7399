// `rondo plan COLLECTIVE --explain`: which way a call takes inside this host,
// what each way is predicted to cost, and which is the runner-up.
//
// The numbers are measured by the ranks of the run, as every communicator does
// at its start, so they are those that a program on this machine would act on.
//
// Thread-safety: collective over the communicator. Failure: an error where
// there is nothing to choose.
//
// Example:
//   RONDO_RETURN_IF_ERROR(Explain(communicator, Collective::kAllGather, 8192));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/plan/plan.h"
#include "collectives/planner/host_choice.h"
#include "transports/base/status.h"

namespace rondo::perf {

// Prints on rank 0 what happens to `bytes` in all (fp32), on ordinary and on
// symmetric memory.
Status Explain(Communicator* communicator, Collective collective,
               int64_t bytes);

// One kind of memory: a line for each way, the choice first.
std::string ExplanationText(const std::vector<PredictedWay>& ways);

}  // namespace rondo::perf
