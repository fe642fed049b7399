// JoinLaunched: from what the launcher says to a working bootstrap.
//
// Rank 0 starts the coordinator in its own process, at the given address or at
// a free port that it publishes in the rendezvous file; the others join until
// the deadline. It returns on a rank once all ranks have joined, so a missing
// rank is named here. A file that a crashed job left behind does no harm: its
// coordinator is gone or knows another secret, and the file is read again.
//
// At a fixed address without a secret file the secret is derived from the
// address and the job's name: it keeps other jobs out, not an enemy. Joined
// says so in its warnings.
//
// Thread-safety: stateless. Ownership: destroy the bootstrap before the
// coordinator, as the order of Joined's members does.
// Failure: names the rank, the place of meeting and who is missing.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(LaunchInfo launch, DetectLaunch(environment));
//   RONDO_ASSIGN_OR_RETURN(Joined joined, JoinLaunched(launch, options));
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transports/base/status.h"
#include "transports/bootstrap/bootstrap.h"
#include "transports/bootstrap/coordinator.h"
#include "transports/bootstrap/launch.h"

namespace rondo {

struct RendezvousOptions {
  // All ranks must have joined by then.
  int timeout_ms = 60000;
  // A file of mode 0600 whose content is the secret of a fixed address.
  std::string secret_file;
  // Of rank 0's coordinator. Its world size and port come from the launch; an
  // empty socket_ifname means loopback when all ranks are on this host.
  CoordinatorOptions coordinator;
};

struct Joined {
  std::unique_ptr<Coordinator> coordinator;  // on rank 0, else null
  std::unique_ptr<Bootstrap> bootstrap;
  std::vector<std::string> warnings;
};

Result<Joined> JoinLaunched(const LaunchInfo& launch,
                            const RendezvousOptions& options);

}  // namespace rondo
