// `rondo perf step`: times the sharded optimizer step alone, and checks it.
//
// Thread-safety: one thread. Failure: an ExitStatus; kExitFailed when a
// parameter was out of bounds, or on any error, which is named on stderr.
//
// Example:
//   AddStepCommand(perf_group, &commands);
#pragma once

#include "CLI/CLI.hpp"
#include "perf/cli/command.h"

namespace rondo::perf {

void AddStepCommand(CLI::App* perf_group, Commands* commands);

}  // namespace rondo::perf
