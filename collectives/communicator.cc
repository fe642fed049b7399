#include "collectives/communicator.h"

#include <algorithm>
#include <utility>

#include "collectives/check_call.h"
#include "collectives/communicator_impl.h"
#include "collectives/connect.h"
#include "collectives/engine/measure_host.h"
#include "collectives/engine/registry.h"
#include "collectives/meet.h"
#include "fmt/format.h"
#include "transports/base/clock.h"
#include "transports/base/log.h"
#include "transports/base/trace.h"

namespace rondo {
namespace {

// How long an orderly end may take to flush what the transport still holds.
constexpr int64_t kDisconnectMs = 2000;

EngineLimits LimitsOf(const Parameters& parameters) {
  EngineLimits limits;
  limits.call.chunk_bytes = static_cast<size_t>(parameters.chunk_bytes);
  limits.call.window_chunks = static_cast<int>(parameters.window_chunks);
  limits.timeout_ms = parameters.timeout_ms;
  limits.peer_timeout_ms = parameters.peer_timeout_ms;
  limits.algorithm = parameters.algorithm;
  return limits;
}

}  // namespace

Communicator::Impl::Impl(std::shared_ptr<Coordinator> meeting_place,
                         EngineParts parts, Parameters settings)
    : coordinator(std::move(meeting_place)),
      parameters(std::move(settings)),
      rank(parts.bootstrap->rank()),
      world_size(parts.bootstrap->world_size()),
      host_of_rank(parts.host_of_rank),
      engine(std::move(parts), LimitsOf(parameters)) {
  AddEngine(&engine);
  if (parameters.progress_thread) {
    progress = std::make_unique<ProgressThread>(&engine);
  }
}

Communicator::Impl::~Impl() {
  progress.reset();
  RemoveEngine(&engine);
  if (!engine.idle()) {
    engine.Fail(Status(
        Code::kAborted,
        fmt::format("rank {} destroyed its communicator with calls in flight",
                    rank)));
  }
  WriteTrace();
  if (!engine.error().ok() || engine.transport() == nullptr) return;
  Status closed =
      engine.transport()->Disconnect(Deadline::AfterMs(kDisconnectMs));
  // A rank that goes on computing is no fault; the others need not wait for it.
  if (!closed.ok()) {
    RONDO_LOG_INFO(NET, "rank {}: {}", rank, closed.message());
  }
}

// RONDO_TRACE_FILE. Also after a failure: then it is wanted most.
void Communicator::Impl::WriteTrace() {
  if (engine.trace() == nullptr) return;
  Result<std::string> path = TracePath(parameters.trace_file, rank, world_size);
  const Status written =
      path.ok() ? engine.trace()->Write(*path) : path.status();
  if (!written.ok()) RONDO_LOG_WARN("rank {}: {}", rank, written.message());
}

int Communicator::Impl::LocalSize() const {
  return static_cast<int>(
      std::count(host_of_rank.begin(), host_of_rank.end(), host_of_rank[rank]));
}

bool Request::Test() {
  if (call_ == nullptr) return true;
  if (!call_->done()) ProgressAllEngines();
  return call_->done();
}

bool Request::Peek() const { return call_ == nullptr || call_->done(); }

Status Request::Wait(int64_t timeout_ms) {
  if (call_ == nullptr) return InvalidUsage("an empty Request was waited for");
  // The call's own deadline ends it when no timeout is given.
  const bool bounded = timeout_ms >= 0;
  const Deadline deadline = Deadline::AfterMs(timeout_ms);
  Backoff backoff = patience_;
  while (!call_->done()) {
    const bool moved = ProgressAllEngines();
    if (bounded && deadline.expired()) {
      return Status(
          Code::kTimeout,
          fmt::format("the call is still running after {} ms", timeout_ms));
    }
    if (moved) {
      backoff.Reset();
    } else {
      PauseForAllEngines(&backoff);
    }
  }
  return call_->status();
}

Result<Communicator::MeetingPlace> Communicator::NewMeetingPlace(
    const Parameters& parameters) {
  RONDO_ASSIGN_OR_RETURN(auto coordinator,
                         Coordinator::Start(CoordinatorOptionsOf(parameters)));
  const UniqueId unique_id = coordinator->unique_id();
  return MeetingPlace{unique_id, std::move(coordinator)};
}

Communicator::Communicator(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
Communicator::~Communicator() = default;

Result<std::unique_ptr<Communicator>> Communicator::Create(
    CommunicatorOptions options) {
  RONDO_RETURN_IF_ERROR(ConfigureLogging(options.parameters));
  RONDO_ASSIGN_OR_RETURN(std::shared_ptr<Bootstrap> bootstrap,
                         MeetRanks(options));
  RONDO_ASSIGN_OR_RETURN(
      EngineParts parts,
      ConnectRanks(std::move(bootstrap), std::move(options.transport),
                   options.parameters));
  auto impl =
      std::make_unique<Impl>(std::move(options.coordinator), std::move(parts),
                             std::move(options.parameters));
  const Deadline deadline =
      Deadline::AfterMs(impl->parameters.bootstrap_timeout_ms);
  RONDO_ASSIGN_OR_RETURN(const HostCosts costs,
                         MeasureHost(&impl->engine, deadline));
  impl->engine.UseCosts(costs);
  return std::unique_ptr<Communicator>(new Communicator(std::move(impl)));
}

int Communicator::rank() const { return impl_->rank; }
int Communicator::world_size() const { return impl_->world_size; }
int Communicator::host() const { return impl_->host_of_rank[impl_->rank]; }

int Communicator::host_count() const {
  return 1 + *std::max_element(impl_->host_of_rank.begin(),
                               impl_->host_of_rank.end());
}

int Communicator::local_rank() const {
  const auto begin = impl_->host_of_rank.begin();
  return static_cast<int>(std::count(begin, begin + rank(), host()));
}

int Communicator::local_size() const { return impl_->LocalSize(); }

bool Communicator::ranks_read_each_other() const {
  return impl_->engine.can_read();
}

const Parameters& Communicator::parameters() const { return impl_->parameters; }

std::string Communicator::Describe() const {
  Transport* transport = impl_->engine.transport();
  return transport == nullptr ? "no transport: a world of one"
                              : transport->Describe();
}

CommunicatorCounters Communicator::counters() const {
  const TrafficCounters traffic = impl_->engine.counters();
  CommunicatorCounters counters;
  counters.calls = traffic.calls;
  counters.message_bytes_sent = traffic.message_bytes_sent;
  counters.message_bytes_received = traffic.message_bytes_received;
  counters.peer_bytes_read = impl_->engine.peer_bytes_read();
  return counters;
}

Result<Request> Communicator::Start(const CollectiveCall& call) {
  CallArguments arguments;
  RONDO_RETURN_IF_ERROR(CheckCall(call, rank(), world_size(), &arguments));
  RONDO_ASSIGN_OR_RETURN(auto pending,
                         impl_->engine.Start(std::move(arguments)));
  if (impl_->progress != nullptr) impl_->progress->Wake();
  return Request(std::move(pending), impl_->engine.NewBackoff());
}

Status Communicator::Run(const CollectiveCall& call) {
  CallArguments arguments;
  RONDO_RETURN_IF_ERROR(CheckCall(call, rank(), world_size(), &arguments));
  RONDO_ASSIGN_OR_RETURN(auto pending,
                         impl_->engine.RunOrStart(std::move(arguments)));
  if (pending == nullptr) return Status::Ok();
  if (impl_->progress != nullptr) impl_->progress->Wake();
  return Request(std::move(pending), impl_->engine.NewBackoff()).Wait();
}

Status Communicator::AllGather(const void* input, void* output, size_t count,
                               DataType type) {
  return Run({.collective = Collective::kAllGather,
              .input = input,
              .output = output,
              .count = count,
              .type = type});
}

Status Communicator::ReduceScatter(const void* input, void* output,
                                   size_t count, DataType type,
                                   Reduction reduction) {
  return Run({.collective = Collective::kReduceScatter,
              .input = input,
              .output = output,
              .count = count,
              .type = type,
              .reduction = reduction});
}

Status Communicator::Broadcast(const void* input, void* output, size_t count,
                               DataType type, int root) {
  return Run({.collective = Collective::kBroadcast,
              .input = input,
              .output = output,
              .count = count,
              .type = type,
              .root = root});
}

Status Communicator::Barrier() {
  return Run({.collective = Collective::kBarrier});
}

Result<std::vector<std::string>> Communicator::Exchange(std::string_view mine) {
  return impl_->engine.bootstrap()->AllGather(
      mine, Deadline::AfterMs(parameters().bootstrap_timeout_ms));
}

Result<std::vector<PredictedWay>> Communicator::Explain(
    const CollectiveCall& call, bool mapped) {
  if (!impl_->engine.ChoosesOnHost()) {
    return Status(Code::kNotSupported,
                  fmt::format("rank {}: there is no choice to explain: it is "
                              "made with RONDO_ALGO=auto between two or more "
                              "ranks of one host",
                              rank()));
  }
  CallArguments arguments;
  arguments.collective = call.collective;
  arguments.counts = BlockCounts(call.count, world_size());
  arguments.input_type = call.type;
  HostCosts costs = impl_->engine.costs();
  RONDO_ASSIGN_OR_RETURN(
      costs.ring,
      MeasureRing(&impl_->engine,
                  Deadline::AfterMs(impl_->parameters.bootstrap_timeout_ms)));
  return impl_->engine.Predict(arguments, costs, mapped);
}

void Communicator::Abort(const std::string& reason) {
  impl_->engine.Fail(Status(
      Code::kAborted, fmt::format("rank {} aborted: {}", rank(), reason)));
}

Status Communicator::AsyncError() const { return impl_->engine.error(); }

}  // namespace rondo
