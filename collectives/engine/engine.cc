#include "collectives/engine/engine.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "transports/base/cache_size.h"

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

// Deaths and passed deadlines wake nobody.
constexpr int kLongestSleepMs = 1;

// Turns without anything to do between two looks at clocks and other ranks.
constexpr int kTurnsBetweenLooks = 64;
// Longer than ranks that arrive together take; the mutex is held meanwhile.
constexpr int kInlinePauses = 1200;
// Between two turns of the engine, while nothing but headers is missing.
constexpr int kSpinsForArrival = 50;

CallContext DescribeHost(const EngineParts& parts) {
  CallContext context;
  context.rank = parts.bootstrap->rank();
  context.ranks = parts.bootstrap->world_size();
  context.own_process = getpid();
  context.segment = parts.segment.get();
  context.transport = parts.transport.get();
  context.trace = parts.trace.get();
  context.can_read = parts.can_read;
  context.cache_bytes = LastCacheBytes("/sys/devices/system/cpu/cpu0/cache");
  context.one_process = parts.segment->local_size() == context.ranks;
  int next = 0;
  const int own_host = parts.host_of_rank[context.rank];
  for (int peer = 0; peer < context.ranks; ++peer) {
    const bool local = parts.host_of_rank[peer] == own_host;
    context.local_index.push_back(local ? next++ : -1);
    context.one_process =
        context.one_process && local && context.IsInProcess(peer);
  }
  return context;
}

}  // namespace

Engine::Engine(EngineParts parts, EngineLimits limits)
    : parts_(std::move(parts)),
      limits_(limits),
      executor_(MakeHostExecutor()),
      peers_(parts_.bootstrap->world_size()),
      segments_(parts_.segment.get()),
      context_(DescribeHost(parts_)),
      shapes_({.rank = parts_.bootstrap->rank(),
               .host_of_rank = parts_.host_of_rank,
               .rails = parts_.transport ? parts_.transport->lane_count() : 1,
               .algorithm = limits_.algorithm,
               .can_read = parts_.can_read,
               .prefer_transport = parts_.prefer_transport}),
      run_(&context_, limits_.call) {
  context_.executor = executor_.get();
  context_.peers = &peers_;
  context_.segments = &segments_;
  context_.counters = &counters_;
  for (int peer = 0; peer < context_.ranks; ++peer) {
    if (!context_.IsLocal(peer)) continue;
    peers_.SetProcess(peer,
                      parts_.segment->ProcessId(context_.local_index[peer]));
  }
}

Engine::~Engine() {
  Poison(Status(Code::kAborted, "the communicator was destroyed"),
         /*report=*/false);
}

Result<std::shared_ptr<PendingCall>> Engine::Start(CallArguments arguments) {
  std::lock_guard<std::mutex> lock(mutex_);
  RONDO_RETURN_IF_ERROR(error());
  RONDO_ASSIGN_OR_RETURN(CallPlan plan, shapes_.PlanFor(arguments));
  auto pending = std::make_shared<PendingCall>();
  CallSegments segments;
  segments.Hold(arguments, context_.rank);
  queue_.push_back(
      {std::move(arguments), std::move(plan), pending, std::move(segments)});
  if (!running_) BeginNext();
  return pending;
}

Result<std::shared_ptr<PendingCall>> Engine::RunOrStart(
    CallArguments arguments) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (running_ || !queue_.empty()) {
    lock.unlock();
    return Start(std::move(arguments));
  }
  RONDO_RETURN_IF_ERROR(error());
  RONDO_ASSIGN_OR_RETURN(CallPlan plan, shapes_.PlanFor(arguments));
  inline_ = true;
  Begin(std::move(plan), std::move(arguments));
  Backoff backoff = NewBackoff();
  for (int pauses = 0; running_ && pauses < kInlinePauses;) {
    if (ProgressLocked()) {
      backoff.Reset();
      pauses = 0;
    } else if (!backoff.spins() || !run_.SpinForArrival(kSpinsForArrival)) {
      backoff.Pause();
      ++pauses;
    }
  }
  inline_ = false;
  if (!running_) {
    RONDO_RETURN_IF_ERROR(Poisoning());
    return std::shared_ptr<PendingCall>();
  }
  run_.HoldSegments();
  auto pending = std::make_shared<PendingCall>();
  queue_.push_back({CallArguments(), CallPlan(), pending});
  return pending;
}

Status Engine::RunWith(const std::string& algorithm, CallArguments arguments) {
  std::string usual;
  TrafficCounters counted;
  uint64_t bytes_read = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    counted = counters_;
    bytes_read = peers_.bytes_read();
    usual = shapes_.SetAlgorithm(algorithm);
    context_.trace = nullptr;
  }
  Result<std::shared_ptr<PendingCall>> pending =
      RunOrStart(std::move(arguments));
  Backoff backoff = NewBackoff();
  while (pending.ok() && *pending != nullptr && !(*pending)->done()) {
    if (Progress()) {
      backoff.Reset();
    } else {
      backoff.Pause();
    }
  }
  std::lock_guard<std::mutex> lock(mutex_);
  shapes_.SetAlgorithm(usual);
  context_.trace = parts_.trace.get();
  counters_ = counted;
  peers_.SetBytesRead(bytes_read);
  if (!pending.ok()) return pending.status();
  return *pending == nullptr ? Status::Ok() : (*pending)->status();
}

void Engine::UseCosts(const HostCosts& costs) {
  std::lock_guard<std::mutex> lock(mutex_);
  shapes_.UseCosts(costs);
  // All ranks have finished what they measured, so slots may be skipped.
  sequence_ = std::max(sequence_, kBeforeFirstCall);
}

Result<std::vector<PredictedWay>> Engine::Predict(
    const CallArguments& arguments, const HostCosts& costs, bool mapped) {
  std::lock_guard<std::mutex> lock(mutex_);
  HostQuestion question = shapes_.QuestionOf(arguments);
  question.mapped = mapped;
  RONDO_ASSIGN_OR_RETURN(const HostWay choice,
                         shapes_.WayFor(arguments, mapped));
  std::vector<PredictedWay> ways = PredictHostWays(costs, question);
  // A call that may go with its header is chosen before memory is known.
  std::stable_partition(
      ways.begin(), ways.end(),
      [choice](const PredictedWay& way) { return way.way == choice; });
  return ways;
}

void Engine::Begin(CallPlan plan, CallArguments arguments) {
  running_ = true;
  idle_turns_ = 0;
  if (context_.trace != nullptr) began_ns_ = NowNs();
  deadline_.reset();
  if (!inline_) deadline_ = Deadline::AfterMs(limits_.timeout_ms);
  departure_until_.reset();
  ++counters_.calls;
  Status started =
      run_.Begin(std::move(plan), std::move(arguments), ++sequence_);
  if (!started.ok()) HandleError(std::move(started));
}

void Engine::BeginNext() {
  Waiting& next = queue_.front();
  // Until the run holds them itself. An error in Begin() empties the queue.
  const CallSegments held = std::move(next.segments);
  Begin(std::move(next.plan), std::move(next.arguments));
  if (running_) run_.HoldSegments();
}

void Engine::FinishCall() {
  if (context_.trace != nullptr) {
    const CallArguments& arguments = run_.arguments();
    context_.trace->Complete(
        CollectiveName(arguments.collective), "collective", 0, began_ns_,
        NowNs(),
        {{{"call", static_cast<int64_t>(sequence_ % kBeforeFirstCall)},
          {"elements", static_cast<int64_t>(arguments.counts.total())}}});
  }
  run_.End();
  running_ = false;
  if (inline_) return;
  queue_.front().pending->Finish(Status::Ok());
  queue_.pop_front();
  if (!queue_.empty()) BeginNext();
}

bool Engine::Progress() {
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && ProgressLocked();
}

// Messages ring no bell, so a call that has some is better off polling.
bool Engine::Sleep() {
  if (!parts_.segment->may_sleep()) return false;
  {
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || !running_ || run_.needs_transport()) return false;
  }
  parts_.segment->Sleep([this] { return Progress(); }, kLongestSleepMs);
  return true;
}

bool Engine::ProgressLocked() {
  if (poisoned_.load(std::memory_order_relaxed)) {
    // Fail() of another thread could not end the calls itself.
    if (running_ || !queue_.empty()) Poison(error(), /*report=*/false);
    return false;
  }
  if (parts_.bootstrap->failed()) {
    Poison(parts_.bootstrap->failure(), /*report=*/false);
    return true;
  }
  // Inside a host the transport only has to be looked after.
  const bool look = !inline_ || ++idle_turns_ % kTurnsBetweenLooks == 0;
  bool moved = parts_.transport != nullptr &&
               (look || !running_ || run_.needs_transport()) &&
               parts_.transport->Progress() > 0;
  if (suspect_until_.has_value()) {
    if (suspect_until_->expired()) Poison(suspect_, /*report=*/true);
    return moved;
  }
  if (!running_) return moved;
  Result<bool> finished = run_.Advance(&moved);
  if (!finished.ok()) {
    HandleError(finished.status());
  } else if (*finished) {
    FinishCall();
    return true;
  } else if (look || run_.needs_transport()) {
    CheckOnOthers(moved);
  }
  return moved;
}

// The time of a call inside RunOrStart() begins at the first look, microseconds
// after its start: a small call should not have to ask the clock.
void Engine::CheckOnOthers(bool moved) {
  if (!deadline_.has_value()) {
    deadline_ = Deadline::AfterMs(limits_.timeout_ms);
  } else if (deadline_->expired()) {
    HandleError(DeadlineError());
  } else if (!moved && parts_.bootstrap->someone_left()) {
    CheckDepartures();
  }
}

Status Engine::DeadlineError() const {
  return Status(Code::kTimeout,
                fmt::format("no end after {} ms (RONDO_TIMEOUT_MS): {}",
                            limits_.timeout_ms, run_.WaitingFor()));
}

void Engine::CheckDepartures() {
  std::vector<int> gone;
  for (int rank : run_.Missing()) {
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
            .WithContext(HeaderToText(run_.header())),
        /*report=*/true);
  }
}

void Engine::HandleError(Status error) {
  error = error.WithContext(HeaderToText(run_.header()));
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
  if (running_ && run_.touches_peers()) {
    // Peers may be reading or writing this rank's buffers, which go back now.
    parts_.segment->Close();
    parts_.segment->WaitUntouched(Deadline::AfterMs(kUntouchedMs));
  }
  run_.End();
  running_ = false;
  for (Waiting& waiting : queue_) waiting.pending->Finish(first);
  queue_.clear();
}

Status Engine::Poisoning() const {
  if (!poisoned_.load(std::memory_order_acquire)) return Status::Ok();
  std::lock_guard<std::mutex> lock(error_mutex_);
  return error_;
}

Status Engine::error() const {
  // Between calls nobody is inside to hear of a death.
  if (!poisoned_.load(std::memory_order_acquire) &&
      parts_.bootstrap->failed()) {
    return parts_.bootstrap->failure();
  }
  return Poisoning();
}

bool Engine::idle() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return queue_.empty() && !running_;
}

bool Engine::may_be_busy() const {
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  return !lock.owns_lock() || running_ || !queue_.empty();
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
