// Bootstrap: how the ranks of one communicator find each other, and the control
// channel that stays open between them afterwards.
//
// At start ranks exchange small blobs through it (addresses, host identities,
// configuration hashes). Later it carries heartbeats, errors and abort: a rank
// that dies, falls silent, or reports an error becomes a failure() on every
// other rank, within milliseconds for a death and within the peer timeout for
// silence. UCX alone does not see stopped peers.
//
// Thread-safety: AllGather and Barrier are for one thread at a time, and all
// ranks call them in the same order. failure(), Report() and failed() may be
// called from any thread at any time; failed() is one relaxed atomic load.
// Ownership: the object owns its sockets and threads; destruction closes them
// and, if nothing failed, tells the others that this rank left in peace.
// Failure: errors name the rank, the address and the deadline that passed.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto coordinator, Coordinator::Start({}));  // once
//   RONDO_ASSIGN_OR_RETURN(auto bootstrap,
//                          JoinTcp(unique_id, rank, world_size, {}));
//   RONDO_ASSIGN_OR_RETURN(auto names,
//                          bootstrap->AllGather(my_name, deadline));
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "transports/base/clock.h"
#include "transports/base/status.h"

namespace rondo {

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;

  // Every rank's blob, indexed by rank. Blobs may differ in size; each is at
  // most kMaxBlobBytes.
  virtual Result<std::vector<std::string>> AllGather(std::string_view mine,
                                                     Deadline deadline) = 0;
  // Returns once every rank has called it.
  virtual Status Barrier(Deadline deadline);

  // Tells every other rank that this communicator has failed with `error`. The
  // first report of any rank wins; later ones are ignored. Never blocks.
  virtual void Report(const Status& error) = 0;

  // Whether anything failed: a dead or silent rank, a report of another rank,
  // or our own. Cheap enough for every turn of a wait loop.
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  // Why; ok while failed() is false.
  virtual Status failure() const = 0;

  // A rank that left in peace is no failure, but nothing comes from it any
  // more. someone_left() is one atomic load.
  bool someone_left() const {
    return someone_left_.load(std::memory_order_acquire);
  }
  virtual bool HasLeft(int rank) const = 0;

  static constexpr size_t kMaxBlobBytes = size_t{1} << 20;

 protected:
  std::atomic<bool> failed_{false};
  std::atomic<bool> someone_left_{false};
};

}  // namespace rondo
