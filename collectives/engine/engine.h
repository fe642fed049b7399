// Engine: runs the calls of one communicator, in the order they were started.
//
// The engine has no thread of its own. Progress() moves it forward without
// blocking; whoever waits calls it, and one thread at a time is inside. An
// error that concerns all ranks poisons it: transfers are ended, every call
// finishes with that error, later ones are refused with it, and the other ranks
// hear of it through the bootstrap.
//
// Thread-safety: every public function may be called from any thread.
// Ownership: owns transport, control segment and bootstrap. Failure: see above;
// the first rank to detect an error describes it.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto call, engine->Start(std::move(arguments)));
//   while (!call->done()) engine->Progress();
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "collectives/engine/call_context.h"
#include "collectives/engine/call_run.h"
#include "collectives/engine/call_segments.h"
#include "collectives/engine/executor.h"
#include "collectives/engine/host_segment.h"
#include "collectives/engine/peer_memory.h"
#include "collectives/engine/peer_segments.h"
#include "collectives/engine/shape_cache.h"
#include "collectives/planner/host_choice.h"
#include "transports/base/clock.h"
#include "transports/base/status.h"
#include "transports/base/trace.h"
#include "transports/bootstrap/bootstrap.h"
#include "transports/contract/transport.h"

namespace rondo {

// A started call, shared between the engine and whoever waits for it.
class PendingCall {
 public:
  bool done() const { return done_.load(std::memory_order_acquire); }
  const Status& status() const { return status_; }  // once done()

 private:
  friend class Engine;
  void Finish(Status status) {
    status_ = std::move(status);
    done_.store(true, std::memory_order_release);
  }
  std::atomic<bool> done_{false};
  Status status_;
};

struct EngineParts {
  std::shared_ptr<Bootstrap> bootstrap;
  std::unique_ptr<Transport> transport;  // null in a world of one
  std::unique_ptr<HostSegment> segment;
  std::vector<int> host_of_rank;
  std::unique_ptr<TraceRecorder> trace;  // null: calls are not traced
  // Whether every rank may read every other's memory; the same on all.
  bool can_read = false;
  // Data should really cross the transport, because someone tests it.
  bool prefer_transport = false;
};

struct EngineLimits {
  CallLimits call;
  int64_t timeout_ms = 0;       // of one call, from when it is next in line
  int64_t peer_timeout_ms = 0;  // silence after which a rank counts as dead
  std::string algorithm;        // RONDO_ALGO
};

class Engine {
 public:
  Engine(EngineParts parts, EngineLimits limits);
  ~Engine();

  // `arguments` were checked. Fails only when the engine is poisoned or no
  // shape fits.
  Result<std::shared_ptr<PendingCall>> Start(CallArguments arguments);
  // Start() for a caller that would wait: a call that is next in line and needs
  // no more than other ranks of this host that come soon has ended when this
  // returns null. Then nothing was allocated, and no system call was made while
  // the ranks have cores.
  Result<std::shared_ptr<PendingCall>> RunOrStart(CallArguments arguments);
  // One call by the algorithm of that RONDO_ALGO, to its end; neither counted
  // nor traced: for measuring.
  Status RunWith(const std::string& algorithm, CallArguments arguments);
  // Whether the ranks share a host and how data moves in it is for the engine
  // to choose, by the costs that UseCosts() gave it.
  bool ChoosesOnHost() const { return shapes_.ChoosesOnHost(); }
  bool can_read() const { return parts_.can_read; }
  // Before the first call of a user, on all ranks.
  void UseCosts(const HostCosts& costs);
  // All ways to run such a call of two or more ranks inside the host, the
  // choice first.
  Result<std::vector<PredictedWay>> Predict(const CallArguments& arguments,
                                            const HostCosts& costs,
                                            bool mapped);
  const HostCosts& costs() const { return shapes_.costs(); }
  // Returns whether anything happened; false also when another thread is
  // inside.
  bool Progress();

  // False when no call is started or waiting. Never blocks: true as well while
  // another thread is inside.
  bool may_be_busy() const;
  // Sleeps until another rank of this host has done something, at most about a
  // millisecond; false, at once, where nothing would wake it in time.
  bool Sleep();

  // Poisons, and tells the other ranks. Idempotent; the first error stays.
  void Fail(const Status& error);
  // Whether no call is started or waiting.
  bool idle() const;
  // The error that poisoned the engine, or ok.
  Status error() const;

  // How to wait for this engine: whether its ranks have cores to spin on.
  Backoff NewBackoff() const {
    return Backoff(parts_.segment->local_size(), parts_.segment->usable_cpus());
  }
  TrafficCounters counters() const;
  uint64_t peer_bytes_read() const;
  Bootstrap* bootstrap() { return parts_.bootstrap.get(); }
  TraceRecorder* trace() { return parts_.trace.get(); }
  Transport* transport() { return parts_.transport.get(); }
  const std::vector<int>& host_of_rank() const { return parts_.host_of_rank; }

 private:
  struct Waiting {
    CallArguments arguments;
    CallPlan plan;
    std::shared_ptr<PendingCall> pending;
    CallSegments segments = {};  // may not be freed before its turn
  };
  bool ProgressLocked();
  void Begin(CallPlan plan, CallArguments arguments);
  void BeginNext();
  // What is to be looked at now and then while a call waits.
  void CheckOnOthers(bool moved);
  void FinishCall();
  // Decides what an error of the running call really was.
  void HandleError(Status error);
  void Poison(const Status& error, bool report);
  Status DeadlineError() const;
  // What poisoned this engine, or ok.
  Status Poisoning() const;
  // Ends a call that waits for a rank which has left the communicator.
  void CheckDepartures();

  EngineParts parts_;
  const EngineLimits limits_;
  std::unique_ptr<Executor> executor_;
  PeerMemory peers_;
  PeerSegments segments_;
  TrafficCounters counters_;
  CallContext context_;
  ShapeCache shapes_;

  mutable std::mutex mutex_;   // whoever holds it is inside the engine
  std::deque<Waiting> queue_;  // front: the running call, unless it is inline
  CallRun run_;
  bool running_ = false;
  bool inline_ = false;  // the running call is in RunOrStart()
  int idle_turns_ = 0;
  std::optional<Deadline> deadline_;
  int64_t began_ns_ = 0;  // when the running call was next in line
  // A transport error waits a moment for the bootstrap to name its cause.
  Status suspect_;
  std::optional<Deadline> suspect_until_;
  // A header of a rank that has left may still be on its way until then.
  std::optional<Deadline> departure_until_;
  uint64_t sequence_ = 0;
  std::atomic<bool> poisoned_{false};
  mutable std::mutex error_mutex_;
  Status error_;
};

}  // namespace rondo
