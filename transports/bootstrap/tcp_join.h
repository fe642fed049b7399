// Introduce: connects to the coordinator and completes the handshake.
//
// Thread-safety: stateless. Ownership: the caller owns the connection.
// Failure: see JoinTcp; with `retry`, tries again until the deadline
// what may still be mended.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(Introduction joined,
//                          Introduce(id, rank, world_size, true, deadline));
#pragma once

#include "transports/base/clock.h"
#include "transports/base/status.h"
#include "transports/bootstrap/connection.h"
#include "transports/bootstrap/handshake.h"
#include "transports/bootstrap/unique_id.h"

namespace rondo {

struct Introduction {
  Connection connection;  // both directions carry tags
  Accepted accepted;
};

Result<Introduction> Introduce(const UniqueId& id, int rank, int world_size,
                               bool retry, Deadline deadline);

}  // namespace rondo
