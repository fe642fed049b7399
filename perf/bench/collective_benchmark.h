// `rondo perf all_gather`, `reduce_scatter`, `broadcast`: sizes, types and
// reductions in nccl-tests' order, a row for each, and the reports.
//
// Thread-safety: one thread. Failure: an ExitStatus; kExitFailed when any
// element was wrong, or on any error, which is named on stderr.
//
// Example:
//   AddCollectiveCommands(perf_group, &commands);
#pragma once

#include "CLI/CLI.hpp"
#include "perf/cli/command.h"

namespace rondo::perf {

void AddCollectiveCommands(CLI::App* perf_group, Commands* commands);

}  // namespace rondo::perf
