// `rondo info`: version, build, UCX and every parameter with its source.
//
// Thread-safety: one thread. Failure: an ExitStatus; kExitUsage when a
// parameter is refused, with the reason on stderr.
//
// Example:
//   AddInfoCommand(&commands);
#pragma once

#include "perf/cli/command.h"

namespace rondo::perf {

void AddInfoCommand(Commands* commands);

}  // namespace rondo::perf
