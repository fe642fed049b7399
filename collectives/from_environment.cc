// Communicator::FromEnvironment: as the launcher says.

#include <memory>
#include <utility>

#include "collectives/communicator.h"
#include "collectives/meet.h"
#include "transports/base/environment.h"
#include "transports/base/log.h"
#include "transports/bootstrap/launch.h"
#include "transports/bootstrap/rendezvous.h"

namespace rondo {

Result<std::unique_ptr<Communicator>> Communicator::FromEnvironment() {
  RONDO_ASSIGN_OR_RETURN(Parameters parameters, Parameters::LoadFromProcess());
  return FromEnvironment(std::move(parameters));
}

Result<std::unique_ptr<Communicator>> Communicator::FromEnvironment(
    Parameters parameters) {
  RONDO_RETURN_IF_ERROR(ConfigureLogging(parameters));
  RONDO_ASSIGN_OR_RETURN(LaunchInfo launch,
                         DetectLaunch(EnvironmentReader::FromProcess()));
  for (const std::string& note : launch.notes) {
    RONDO_LOG_INFO(BOOTSTRAP, "rank {}: {}", launch.rank, note);
  }
  RONDO_LOG_INFO(BOOTSTRAP, "rank {} of {}, as {} says", launch.rank,
                 launch.world_size, LauncherName(launch.launcher));
  CommunicatorOptions options;
  options.rank = launch.rank;
  options.world_size = launch.world_size;
  if (launch.world_size > 1) {
    RendezvousOptions rendezvous;
    rendezvous.timeout_ms = static_cast<int>(parameters.bootstrap_timeout_ms);
    rendezvous.secret_file = parameters.secret_file;
    rendezvous.coordinator = CoordinatorOptionsOf(parameters);
    RONDO_ASSIGN_OR_RETURN(Joined joined, JoinLaunched(launch, rendezvous));
    for (const std::string& warning : joined.warnings) {
      RONDO_LOG_WARN("rank {}: {}", launch.rank, warning);
    }
    options.coordinator = std::move(joined.coordinator);
    options.bootstrap = std::move(joined.bootstrap);
  }
  options.parameters = std::move(parameters);
  return Create(std::move(options));
}

}  // namespace rondo
