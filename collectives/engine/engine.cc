#include "collectives/engine/engine.h"

#include <unistd.h>

#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace rondo {
namespace {

// A dying peer often shows first as a transport error that names no cause, or
// as one of a third rank that heard of it earlier. The control channel knows a
// death within milliseconds, and a silence after the peer timeout and this.
constexpr int64_t kSuspicionMs = 500;
// A peer's turn at our memory takes milliseconds, unless it died in it.
constexpr int64_t kUntouchedMs = 1000;
// A goodbye may overtake the last header, which takes another way.
constexpr int64_t kDepartureMs = 1000;

}  // namespace

Engine::Engine(EngineParts parts, EngineLimits limits)
    : parts_(std::move(parts)),
      limits_(limits),
      executor_(MakeHostExecutor()),
      peers_(parts_.bootstrap->rank(), parts_.bootstrap->world_size()),
      shapes_({.rank = parts_.bootstrap->rank(),
               .host_of_rank = parts_.host_of_rank,
               .rails = parts_.transport ? parts_.transport->lane_count() : 1,
               .algorithm = limits_.algorithm,
               .all_reach_all = parts_.all_reach_all}) {
  context_.rank = parts_.bootstrap->rank();
  context_.ranks = parts_.bootstrap->world_size();
  context_.segment = parts_.segment.get();
  context_.transport = parts_.transport.get();
  context_.executor = executor_.get();
  context_.peers = &peers_;
  context_.counters = &counters_;
  context_.trace = parts_.trace.get();
  SetReach();
}

Engine::~Engine() {
  Poison(Status(Code::kAborted, "the communicator was destroyed"),
         /*report=*/false);
}

void Engine::SetReach() {
  int next = 0;
  const int own_host = parts_.host_of_rank[context_.rank];
  for (int peer = 0; peer < context_.ranks; ++peer) {
    const bool local = parts_.host_of_rank[peer] == own_host;
    context_.local_index.push_back(local ? next++ : -1);
    if (!local || peer == context_.rank) continue;
    const pid_t process_id =
        parts_.segment->ProcessId(context_.local_index[peer]);
    peers_.SetReach(
        peer, process_id == getpid() ? Reach::kMapped : Reach::kReadAcross,
        process_id);
  }
}

Result<std::shared_ptr<PendingCall>> Engine::Start(CallArguments arguments) {
  std::lock_guard<std::mutex> lock(mutex_);
  RONDO_RETURN_IF_ERROR(error());
  const int root =
      arguments.collective == Collective::kBroadcast ? arguments.root : 0;
  RONDO_ASSIGN_OR_RETURN(auto prepared,
                         shapes_.Get(arguments.collective, root));
  auto pending = std::make_shared<PendingCall>();
  queue_.push_back({std::move(arguments), std::move(prepared), pending});
  if (run_ == nullptr) BeginNext();
  return pending;
}

void Engine::BeginNext() {
  Waiting& next = queue_.front();
  run_ = std::make_unique<CallRun>(&context_, next.prepared,
                                   std::move(next.arguments), ++sequence_,
                                   limits_.call);
  deadline_ = Deadline::AfterMs(limits_.timeout_ms);
  departure_until_.reset();
  began_ns_ = NowNs();
  ++counters_.calls;
  Status started = run_->Start(&scratch_);
  if (!started.ok()) HandleError(std::move(started));
}

void Engine::FinishCall() {
  if (context_.trace != nullptr) {
    const CallArguments& arguments = run_->arguments();
    context_.trace->Complete(
        CollectiveName(arguments.collective), "collective", 0, began_ns_,
        NowNs(),
        {{{"call", static_cast<int64_t>(sequence_)},
          {"elements", static_cast<int64_t>(arguments.TotalCount())}}});
  }
  run_.reset();
  queue_.front().pending->Finish(Status::Ok());
  queue_.pop_front();
  if (!queue_.empty()) BeginNext();
}

bool Engine::Progress() {
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && ProgressLocked();
}

bool Engine::ProgressLocked() {
  if (poisoned_.load(std::memory_order_relaxed)) {
    // Fail() of another thread could not end the calls itself.
    if (!queue_.empty()) Poison(error(), /*report=*/false);
    return false;
  }
  if (parts_.bootstrap->failed()) {
    Poison(parts_.bootstrap->failure(), /*report=*/false);
    return true;
  }
  bool moved = parts_.transport != nullptr && parts_.transport->Progress() > 0;
  if (suspect_until_.has_value()) {
    if (suspect_until_->expired()) Poison(suspect_, /*report=*/true);
    return moved;
  }
  if (run_ == nullptr) return moved;
  Result<bool> finished = run_->Advance(&moved);
  if (!finished.ok()) {
    HandleError(finished.status());
  } else if (*finished) {
    FinishCall();
    return true;
  } else if (deadline_->expired()) {
    HandleError(DeadlineError());
  } else if (!moved && parts_.bootstrap->someone_left()) {
    CheckDepartures();
  }
  return moved;
}

Status Engine::DeadlineError() const {
  return Status(Code::kTimeout,
                fmt::format("no end after {} ms (RONDO_TIMEOUT_MS): {}",
                            limits_.timeout_ms, run_->WaitingFor()));
}

void Engine::CheckDepartures() {
  std::vector<int> gone;
  for (int rank : run_->Missing()) {
    if (parts_.bootstrap->HasLeft(rank)) gone.push_back(rank);
  }
  if (gone.empty()) return;
  if (!departure_until_.has_value()) {
    departure_until_ = Deadline::AfterMs(kDepartureMs);
  } else if (departure_until_->expired()) {
    Poison(
        Status(Code::kRemoteDead,
               fmt::format("rank(s) {} left the communicator without this call",
                           fmt::join(gone, ", ")))
            .WithContext(HeaderToText(run_->header())),
        /*report=*/true);
  }
}

void Engine::HandleError(Status error) {
  error = error.WithContext(HeaderToText(run_->header()));
  // A path that broke may have been closed by a rank that heard of the death
  // of a third one, so what the transport calls dead is only suspected.
  const bool vague = error.code() == Code::kTransport ||
                     error.code() == Code::kSystem ||
                     error.code() == Code::kRemoteDead;
  if (!vague) {
    Poison(error, /*report=*/true);
    return;
  }
  suspect_ = std::move(error);
  suspect_until_ = Deadline::AfterMs(limits_.peer_timeout_ms + kSuspicionMs);
}

void Engine::Fail(const Status& error) {
  {
    std::lock_guard<std::mutex> lock(error_mutex_);
    if (poisoned_.load(std::memory_order_relaxed)) return;
    error_ = error;
    poisoned_.store(true, std::memory_order_release);
  }
  parts_.bootstrap->Report(error);
  // If another thread is inside, its next turn ends the calls.
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) Poison(error, /*report=*/false);
}

void Engine::Poison(const Status& error, bool report) {
  Status first = error;
  {
    std::lock_guard<std::mutex> lock(error_mutex_);
    if (!poisoned_.load(std::memory_order_relaxed)) error_ = error;
    poisoned_.store(true, std::memory_order_release);
    first = error_;
  }
  if (report) parts_.bootstrap->Report(first);
  // Ends every transfer, after which the run may be destroyed.
  if (parts_.transport != nullptr) parts_.transport->FailAll(first);
  if (run_ != nullptr && run_->touches_peers()) {
    // Peers may be reading or writing this rank's buffers, which go back now.
    parts_.segment->Close();
    parts_.segment->WaitUntouched(Deadline::AfterMs(kUntouchedMs));
  }
  run_.reset();
  for (Waiting& waiting : queue_) waiting.pending->Finish(first);
  queue_.clear();
}

Status Engine::error() const {
  if (!poisoned_.load(std::memory_order_acquire)) {
    // Between calls nobody is inside to hear of a death.
    return parts_.bootstrap->failed() ? parts_.bootstrap->failure()
                                      : Status::Ok();
  }
  std::lock_guard<std::mutex> lock(error_mutex_);
  return error_;
}

bool Engine::idle() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return queue_.empty();
}

TrafficCounters Engine::counters() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return counters_;
}

uint64_t Engine::peer_bytes_read() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return peers_.bytes_read();
}

}  // namespace rondo
