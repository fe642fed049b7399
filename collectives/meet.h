// How the ranks of a communicator meet: through a bootstrap that is given, or
// at the coordinator of a unique id.
//
// Thread-safety: functions of their arguments. Ownership: results own their
// sockets and threads. Failure: the bootstrap's errors, naming rank and
// address.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto bootstrap, MeetRanks(options));
#pragma once

#include <memory>

#include "collectives/communicator.h"
#include "transports/base/parameters.h"
#include "transports/base/status.h"
#include "transports/bootstrap/bootstrap.h"
#include "transports/bootstrap/coordinator.h"

namespace rondo {

CoordinatorOptions CoordinatorOptionsOf(const Parameters& parameters);

// Checks rank and world size first.
Result<std::shared_ptr<Bootstrap>> MeetRanks(
    const CommunicatorOptions& options);

}  // namespace rondo
