// CheckCall: the arguments of a collective, checked before anything is sent.
//
// Thread-safety: a pure function. Failure: kInvalidArgument naming the rank,
// the value and what is accepted. A refused call leaves the communicator as it
// was.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(CallArguments arguments, CheckCall(call, rank,
//   size));
#pragma once

#include "collectives/communicator.h"
#include "collectives/engine/binding.h"
#include "transports/base/status.h"

namespace rondo {

Result<CallArguments> CheckCall(const CollectiveCall& call, int rank,
                                int world_size);

}  // namespace rondo
