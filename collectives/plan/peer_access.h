// Who may touch whose spaces when: the rules of the ready and done flags, and
// of scratch, which belongs to one chunk index and comes back with another.
//
// Thread-safety: none. Failure: functions return what is wrong, as the words
// that follow "rank r, step s: "; empty when all is well.
//
// Example:
//   peers.ReadyAwaited(rank, owner);
//   std::string problem = peers.CheckTouch(rank, block, clock);
#pragma once

#include <string>
#include <vector>

#include "collectives/plan/plan.h"
#include "collectives/plan/symbolic_memory.h"

namespace rondo {

class PeerAccess {
 public:
  explicit PeerAccess(int ranks);

  // `rank` has seen that `owner` is ready.
  void ReadyAwaited(int rank, int owner) { At(rank, owner).ready = true; }
  // `rank` tells `owner` that it no longer touches its spaces.
  std::string DoneSignalled(int rank, int owner);
  // `owner` has seen that.
  void DoneAwaited(int owner, int rank) { At(rank, owner).done_awaited = true; }

  void PutStarted(int rank, int owner) { ++At(rank, owner).puts_in_flight; }
  void PutFinished(int rank, int owner) { --At(rank, owner).puts_in_flight; }

  // `rank` is about to execute a chunk step at its own time `time`.
  void EnterChunk(int rank, int time);
  // It has executed its last one.
  void LeaveChunk(int rank) { chunk_finished_[rank] = true; }

  // `rank`, which knows `clock`, touches `block` of any rank.
  std::string CheckTouch(int rank, const BlockRef& block,
                         const VectorClock& clock);

  // At the end: nobody may finish before those who touched its spaces.
  std::string CheckFinished() const;

 private:
  // What one rank has seen of, done to and told another.
  struct Access {
    bool ready = false;
    bool touched = false;
    bool done_signalled = false;
    bool done_awaited = false;  // by the owner
    int puts_in_flight = 0;
  };

  Access& At(int rank, int owner) {
    return access_[static_cast<size_t>(rank) * ranks_ + owner];
  }
  const Access& At(int rank, int owner) const {
    return access_[static_cast<size_t>(rank) * ranks_ + owner];
  }

  int ranks_;
  std::vector<Access> access_;
  // A rank's own time at its first chunk step, and whether its last is past.
  std::vector<int> chunk_begin_;
  std::vector<bool> chunk_finished_;
};

}  // namespace rondo
