#include "collectives/connect.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "collectives/engine/peer_memory.h"
#include "collectives/engine/tag.h"
#include "transports/base/clock.h"
#include "transports/base/log.h"
#include "transports/base/trace.h"
#include "transports/bootstrap/host_identity.h"
#include "transports/fault/fault_plan.h"
#include "transports/fault/fault_transport.h"
#include "transports/ucx/ucx_transport.h"

namespace rondo {
namespace {

Result<std::vector<int>> GroupRanks(Bootstrap* bootstrap,
                                    const Parameters& parameters,
                                    Deadline deadline) {
  RONDO_ASSIGN_OR_RETURN(std::string identity, HostIdentity(parameters.hostid));
  RONDO_ASSIGN_OR_RETURN(auto identities,
                         bootstrap->AllGather(identity, deadline));
  return GroupByHost(identities).host;
}

Result<std::unique_ptr<Transport>> MakeTransport(const Parameters& parameters) {
  UcxOptions options;
  options.devices = parameters.net_devices;
  options.transports = parameters.ucx_tls;
  options.on_warning = [](const std::string& warning) {
    RONDO_LOG_WARN("{}", warning);
  };
  return CreateUcxTransport(options);
}

// RONDO_FAULT, so that a user can watch how a program bears a bad network.
Result<std::unique_ptr<Transport>> WithFaults(
    std::unique_ptr<Transport> transport, const Parameters& parameters,
    int rank) {
  if (parameters.fault.empty()) return transport;
  RONDO_ASSIGN_OR_RETURN(FaultPlan plan, ParseFaultPlan(parameters.fault));
  RONDO_LOG_WARN("rank {}: RONDO_FAULT={} misbehaves on purpose", rank,
                 parameters.fault);
  FaultOptions options;
  options.is_payload = [](uint64_t tag, size_t) { return IsPayload(tag); };
  return WrapWithFaults(std::move(transport), plan, std::move(options));
}

// Whether every rank may read every other's memory: asked once, on one byte,
// because containers and security modules refuse it in ways that only trying
// shows.
Result<bool> AllMayRead(Bootstrap* bootstrap,
                        const HostSegment::Placement& placement,
                        Deadline deadline) {
  const HostSegment& segment = *placement.segment;
  bool mine = segment.local_size() == bootstrap->world_size();
  for (int peer = 0; peer < segment.local_size() && mine; ++peer) {
    const pid_t process_id = segment.ProcessId(peer);
    mine = process_id == getpid() ||
           PeerMemory::CanRead(process_id, segment.ProbeAddress(peer));
  }
  RONDO_ASSIGN_OR_RETURN(auto all,
                         bootstrap->AllGather(mine ? "yes" : "no", deadline));
  return std::count(all.begin(), all.end(), "yes") == bootstrap->world_size();
}

Result<std::unique_ptr<TraceRecorder>> MakeTrace(const Parameters& parameters,
                                                 int rank, int world_size) {
  if (parameters.trace_file.empty()) return std::unique_ptr<TraceRecorder>();
  // Refused now rather than when the trace is written.
  RONDO_RETURN_IF_ERROR(
      TracePath(parameters.trace_file, rank, world_size).status());
  return TraceRecorder::Create(rank);
}

Status ExchangeAddresses(Bootstrap* bootstrap, Transport* transport,
                         Deadline deadline) {
  RONDO_ASSIGN_OR_RETURN(std::string address, transport->Address());
  RONDO_ASSIGN_OR_RETURN(auto addresses,
                         bootstrap->AllGather(address, deadline));
  return transport->Connect(bootstrap->rank(), std::move(addresses));
}

}  // namespace

Result<EngineParts> ConnectRanks(std::shared_ptr<Bootstrap> bootstrap,
                                 std::unique_ptr<Transport> transport,
                                 const Parameters& parameters) {
  const Deadline deadline = Deadline::AfterMs(parameters.bootstrap_timeout_ms);
  const int rank = bootstrap->rank();
  RONDO_ASSIGN_OR_RETURN(std::vector<int> wished,
                         GroupRanks(bootstrap.get(), parameters, deadline));
  RONDO_ASSIGN_OR_RETURN(
      HostSegment::Placement placement,
      HostSegment::Create(bootstrap.get(), std::move(wished), deadline));
  if (!placement.warning.empty()) RONDO_LOG_WARN("{}", placement.warning);

  RONDO_ASSIGN_OR_RETURN(const bool can_read,
                         AllMayRead(bootstrap.get(), placement, deadline));
  if (bootstrap->world_size() > 1) {
    if (transport == nullptr) {
      RONDO_ASSIGN_OR_RETURN(transport, MakeTransport(parameters));
    }
    RONDO_ASSIGN_OR_RETURN(transport,
                           WithFaults(std::move(transport), parameters, rank));
    RONDO_RETURN_IF_ERROR(
        ExchangeAddresses(bootstrap.get(), transport.get(), deadline));
    RONDO_LOG_INFO(INIT, "rank {} of {} on host {}: {}", rank,
                   bootstrap->world_size(), placement.host_of_rank[rank],
                   transport->Describe());
  }
  EngineParts parts;
  RONDO_ASSIGN_OR_RETURN(parts.trace,
                         MakeTrace(parameters, rank, bootstrap->world_size()));
  parts.can_read = can_read;
  parts.prefer_transport = !parameters.fault.empty();
  parts.bootstrap = std::move(bootstrap);
  parts.transport = std::move(transport);
  parts.segment = std::move(placement.segment);
  parts.host_of_rank = std::move(placement.host_of_rank);
  return parts;
}

}  // namespace rondo
