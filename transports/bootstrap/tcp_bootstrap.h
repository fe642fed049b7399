// JoinTcp: a Bootstrap over one TCP connection to the coordinator.
//
// The coordinator may start later than the ranks: connecting is retried until
// the join timeout. Both sides prove the unique id's secret. Afterwards a small
// thread sends heartbeats and listens, so that the death or silence of any rank
// becomes failure() here. The death of the process that the coordinator lives
// in is seen here directly and named by its rank.
//
// Thread-safety: as Bootstrap. Ownership: the object owns socket and thread.
// Failure: a wrong secret, another version, a wrong world size or a duplicate
// rank fail at once, the values of both sides named; what may still be mended
// (nobody listens yet) fails at the deadline, with the last reason.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto coordinator, Coordinator::Start({}));  // once
//   RONDO_ASSIGN_OR_RETURN(auto bootstrap,
//                          JoinTcp(unique_id, rank, world_size, {}));
#pragma once

#include <memory>

#include "transports/base/status.h"
#include "transports/bootstrap/bootstrap.h"
#include "transports/bootstrap/unique_id.h"

namespace rondo {

// Heartbeats and silence are options of the Coordinator: one value for all.
struct TcpOptions {
  int join_timeout_ms = 60000;
  // Whether to try again while nobody listens there. Not for a caller who would
  // rather look for a newer unique id.
  bool retry = true;
  // Destruction waits this long for the coordinator to take the goodbye.
  int leave_timeout_ms = 1000;
};

Result<std::unique_ptr<Bootstrap>> JoinTcp(const UniqueId& id, int rank,
                                           int world_size,
                                           const TcpOptions& options);

}  // namespace rondo
