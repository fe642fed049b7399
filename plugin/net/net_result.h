// What NCCL is told of an error: one result, and one line in its log.
//
// Thread-safety: everything may be called from any thread. Failure: none.
//
// Example:
//   if (!status.ok()) return Report(status);
#pragma once

#include "plugin/abi/net_types.h"
#include "transports/base/status.h"

namespace rondo::plugin {

// Sends all messages of this library to NCCL's logger, which decides by
// NCCL_DEBUG what is shown.
void LogThrough(nccl::Logger logger);

// The result for NCCL: a dead peer or a silent one is a remote error, what the
// caller did wrong is invalid usage or argument.
nccl::Result ResultOf(const Status& status);

// ResultOf, and a warning that says why unless all is well.
int Report(const Status& status);

}  // namespace rondo::plugin
