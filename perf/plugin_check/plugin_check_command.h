// `rondo plugin-check PATH`: whether a net plugin does what NCCL relies on.
//
// Thread-safety: one thread. Failure: an ExitStatus; kExitFailed when a check
// failed, kExitUsage when the plugin cannot be loaded.
//
// Example:
//   AddPluginCheckCommand(&commands);
#pragma once

#include "perf/cli/command.h"

namespace rondo::perf {

void AddPluginCheckCommand(Commands* commands);

}  // namespace rondo::perf
