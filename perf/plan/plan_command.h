// `rondo plan`: makes a plan, proves it, and prints it.
//
// Thread-safety: one thread. Failure: an ExitStatus; kExitFailed when the proof
// fails, with the verifier's reason on stderr.
//
// Example:
//   AddPlanCommand(&commands);
#pragma once

#include "perf/cli/command.h"

namespace rondo::perf {

void AddPlanCommand(Commands* commands);

}  // namespace rondo::perf
