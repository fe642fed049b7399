// `rondo perf net`: what a net plugin of NCCL adds to the network below it.
//
// Thread-safety: one thread. Failure: an ExitStatus; kExitFailed when a byte
// was wrong or on any error, which is named on stderr.
//
// Example:
//   AddNetCommand(perf_group, &commands);
#pragma once

#include "CLI/CLI.hpp"
#include "perf/cli/command.h"

namespace rondo::perf {

void AddNetCommand(CLI::App* perf_group, Commands* commands);

}  // namespace rondo::perf
