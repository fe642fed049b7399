// ReportError: the one way in which a command says that it failed.
//
// Thread-safety: one line, one write. Failure: none.
//
// Example:
//   if (!status.ok()) return ReportError(status);
#pragma once

#include "perf/cli/exit_status.h"
#include "transports/base/status.h"

namespace rondo::perf {

// Prints "rondo: MESSAGE" to stderr and returns kExitUsage for arguments and
// usage that were refused, kExitFailed for all other errors.
int ReportError(const Status& status);

}  // namespace rondo::perf
