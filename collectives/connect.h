// ConnectRanks: from ranks that have met to an engine that can move data.
//
// Groups the ranks into hosts, maps each host's control segment, makes the
// transport and exchanges its addresses.
//
// Thread-safety: none needed. Ownership: the parts own what they are made of.
// Failure: the bootstrap's and the transport's errors, naming the rank.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(EngineParts parts,
//                          ConnectRanks(bootstrap, nullptr, parameters));
#pragma once

#include <memory>

#include "collectives/engine/engine.h"
#include "transports/base/parameters.h"
#include "transports/base/status.h"
#include "transports/bootstrap/bootstrap.h"
#include "transports/contract/transport.h"

namespace rondo {

// Collective over `bootstrap`. `transport` may be null: then it is UCX, as
// `parameters` say, and none at all in a world of one.
Result<EngineParts> ConnectRanks(std::shared_ptr<Bootstrap> bootstrap,
                                 std::unique_ptr<Transport> transport,
                                 const Parameters& parameters);

}  // namespace rondo
