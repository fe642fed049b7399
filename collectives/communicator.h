// Communicator: a group of ranks that run collectives together (the C++ API;
// rondo.h is the C one).
//
// Every rank calls the same collectives in the same order with matching
// arguments. A difference in operation, count, type, reduction or root is an
// error on every rank that names who differs and in what, and no mismatching
// data is ever applied. (Between hosts, a rank that needs nothing from the one
// that differs, such as a broadcast's root, may get the error in its next
// call.)
//
// Blocking calls return when the output is written and every peer has finished
// with this rank's buffers, or when the deadline (RONDO_TIMEOUT_MS) passes.
// Start() returns at once; the buffers belong to the call until its Request is
// done. Calls of one communicator run in the order in which they were started.
//
// In place, by NCCL's rule: all-gather with input == output + rank's offset;
// reduce-scatter with output == input + rank's offset; broadcast with
// input == output. Any other overlap is refused.
//
// Thread-safety: any thread may call; calls of one communicator should come
// from one thread, because their order must agree between ranks. One thread at
// a time is inside the engine: a caller in Test() or Wait(), which move every
// communicator of the process forward, or the progress thread
// (RONDO_PROGRESS_THREAD=1). Abort() works from any thread at any time.
// Ownership: buffers stay the caller's. The destructor is local: it leaves in
// peace after a clean end, and waits for nobody after a failure.
// Failure: an error that concerns all ranks (a dead rank, a mismatch, a passed
// deadline, Abort) poisons the communicator: this call and all later ones
// return it, on every rank. Outputs of a failed call are undefined. Arguments
// that are refused before anything was sent poison nothing.
//
// Example (every rank):
//   RONDO_ASSIGN_OR_RETURN(auto comm, Communicator::FromEnvironment());
//   std::vector<float> shard(1024, comm->rank()), all(1024 *
//   comm->world_size()); RONDO_RETURN_IF_ERROR(comm->AllGather(shard.data(),
//   all.data(), 1024,
//                                         DataType::kFloat32));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/engine/update.h"
#include "collectives/kernels/data_type.h"
#include "collectives/plan/plan.h"
#include "collectives/planner/host_choice.h"
#include "transports/base/clock.h"
#include "transports/base/parameters.h"
#include "transports/base/status.h"
#include "transports/bootstrap/bootstrap.h"
#include "transports/bootstrap/coordinator.h"
#include "transports/bootstrap/unique_id.h"
#include "transports/contract/transport.h"

namespace rondo {

class PendingCall;

// One collective with its arguments. Only the fields that the collective uses
// are read; they are copied, so spans need to live only until Start() returns.
struct CollectiveCall {
  Collective collective = Collective::kAllGather;
  const void* input = nullptr;
  void* output = nullptr;
  // Elements of each block: what one rank contributes to an all-gather,
  // receives from a reduce-scatter, owns in a sharded step; the whole in a
  // broadcast.
  size_t count = 0;
  // Uneven blocks: one count per rank; replaces `count` when not empty.
  std::span<const size_t> counts = {};
  DataType type = DataType::kFloat32;
  Reduction reduction = Reduction::kSum;
  int root = 0;

  // Sharded step and its halves only. `type` is that of the gradients (input);
  // the parameters (output) may have another. `parameter_counts` cuts the
  // vector into parameters, in order; empty: one parameter. The update must
  // outlive the call.
  DataType output_type = DataType::kFloat32;
  std::span<const size_t> parameter_counts = {};
  Update* update = nullptr;
  // Of what the ranks' updates must agree on, such as a learning rate; compared
  // like an argument.
  uint64_t update_fingerprint = 0;
};

// A started call. Copies refer to the same call; dropping the last one does not
// cancel it.
class Request {
 public:
  Request() = default;

  // True once the call has ended, well or not. Moves things forward.
  bool Test();
  // The same without moving anything: for when a progress thread does.
  bool Peek() const;
  // Waits for the end, at most `timeout_ms` (negative: until the call's own
  // deadline), and returns how it ended. A passed `timeout_ms` is kTimeout and
  // leaves the call running; the call's own deadline ends it.
  Status Wait(int64_t timeout_ms = -1);

 private:
  friend class Communicator;
  Request(std::shared_ptr<PendingCall> call, Backoff patience)
      : call_(std::move(call)), patience_(patience) {}
  std::shared_ptr<PendingCall> call_;
  Backoff patience_;
};

// Bytes this rank moved since the communicator was made.
struct CommunicatorCounters {
  uint64_t calls = 0;
  uint64_t message_bytes_sent = 0;
  uint64_t message_bytes_received = 0;
  uint64_t peer_bytes_read = 0;  // directly from other ranks' memory
};

struct CommunicatorOptions {
  int rank = 0;
  int world_size = 1;
  // How to meet the others: a `bootstrap` that has joined already, else the
  // `unique_id`, the same on every rank. A world of one needs neither.
  std::shared_ptr<Bootstrap> bootstrap;
  std::optional<UniqueId> unique_id;
  // Kept alive as long as the communicator: for the process that made the id.
  std::shared_ptr<Coordinator> coordinator;
  // How bytes move; null: UCX, as `parameters` say. Not connected yet.
  std::unique_ptr<Transport> transport;
  // Every setting that is not an argument; from Parameters::LoadFromProcess().
  Parameters parameters;
};

class Communicator {
 public:
  // Collective over the ranks of `options`, bounded by
  // RONDO_BOOTSTRAP_TIMEOUT_MS.
  static Result<std::unique_ptr<Communicator>> Create(
      CommunicatorOptions options);
  // Rank, world size and meeting place as the launcher gives them (RONDO_*,
  // torchrun, Open MPI, PMI, Slurm); a world of one without any.
  static Result<std::unique_ptr<Communicator>> FromEnvironment();
  static Result<std::unique_ptr<Communicator>> FromEnvironment(
      Parameters parameters);
  ~Communicator();

  int rank() const;
  int world_size() const;
  int host() const;  // index of this rank's host
  int host_count() const;
  int local_rank() const;  // among the ranks of this host
  int local_size() const;
  // Whether every rank may read every other's ordinary memory, which takes one
  // host and the system's permission.
  bool ranks_read_each_other() const;
  const Parameters& parameters() const;
  std::string Describe() const;  // transport and lanes, one line, for people
  CommunicatorCounters counters() const;

  // Starts the call, and checks its arguments first.
  Result<Request> Start(const CollectiveCall& call);
  // Start() and Wait().
  Status Run(const CollectiveCall& call);

  // output[r * count ...] = rank r's input, for every r.
  Status AllGather(const void* input, void* output, size_t count,
                   DataType type);
  // output = sum over ranks of input[rank * count ...].
  Status ReduceScatter(const void* input, void* output, size_t count,
                       DataType type, Reduction reduction);
  // output = root's input.
  Status Broadcast(const void* input, void* output, size_t count, DataType type,
                   int root);
  // Returns once every rank has called it.
  Status Barrier();

  // Every rank's `mine`, by rank, over the control channel: for small facts
  // such as settings and results, at most Bootstrap::kMaxBlobBytes each.
  // Collective, bounded by RONDO_BOOTSTRAP_TIMEOUT_MS; independent of calls in
  // flight.
  Result<std::vector<std::string>> Exchange(std::string_view mine);

  // A communicator of the ranks that passed the same `color` >= 0, ordered by
  // (key, rank); null for a negative color. Collective over this communicator.
  Result<std::unique_ptr<Communicator>> Split(int color, int key);

  // How an all-gather or a reduce-scatter would move its data inside the host,
  // predicted from what was measured: the choice first, then the runner-up.
  // `mapped`: as if all buffers were symmetric. Collective, since it measures
  // the ring as well. kNotSupported where there is no choice: one rank, several
  // hosts, or RONDO_ALGO set.
  Result<std::vector<PredictedWay>> Explain(const CollectiveCall& call,
                                            bool mapped);

  // Ends all calls on all ranks with kAborted. Never blocks; idempotent.
  void Abort(const std::string& reason);
  // The error that poisoned this communicator; ok while it works.
  Status AsyncError() const;

  // A new communicator's id and the coordinator that its ranks will meet at.
  struct MeetingPlace {
    UniqueId unique_id;
    std::shared_ptr<Coordinator> coordinator;
  };
  static Result<MeetingPlace> NewMeetingPlace(const Parameters& parameters);

 private:
  class Impl;
  explicit Communicator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rondo
