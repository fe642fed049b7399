// CheckCall: the arguments of a collective, checked before anything is sent.
//
// Thread-safety: a pure function. Failure: kInvalidArgument naming the rank,
// the value and what is accepted. A refused call leaves the communicator as it
// was.
//
// Example:
//   CallArguments arguments;
//   RONDO_RETURN_IF_ERROR(CheckCall(call, rank, size, &arguments));
#pragma once

#include "collectives/communicator.h"
#include "collectives/engine/binding.h"
#include "transports/base/status.h"

namespace rondo {

// Fills in `arguments`, which must be fresh.
Status CheckCall(const CollectiveCall& call, int rank, int world_size,
                 CallArguments* arguments);

}  // namespace rondo
