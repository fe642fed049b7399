// HostSegment: the control segment that the ranks of one host share.
//
// One small piece of shared memory per communicator and host. Each local rank
// has an area with call slots, in which it posts the header of each call, and
// flags that it raises at its neighbours. Everything bulky goes elsewhere.
//
// The memory is an anonymous file of the host's first rank that the others open
// through /proc, so nothing has a name and nothing is left behind, whatever
// dies when. Ranks that cannot open it (another user, another container) share
// no host: Create then tells every rank so, and each is its own host.
//
// Slots. A rank posts call s only after it has finished call s - 1, for which
// it read every local header of call s - 1; so while a rank reads slot s, no
// writer can be beyond s + 1, and two slots would do.
//
// Thread-safety: Post and Raise are for the one thread inside the engine of
// that rank; what is read is published with release stores. Ownership: unmapped
// by the destructor. Failure: Create names the rank and the system's reason.
//
// Example:
//   segment->Post(header);
//   const CallHeader* theirs = segment->Posted(local_peer, sequence);
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "collectives/engine/call_header.h"
#include "collectives/engine/function_ref.h"
#include "collectives/engine/host_area.h"
#include "collectives/plan/plan.h"
#include "transports/base/clock.h"
#include "transports/base/status.h"
#include "transports/bootstrap/bootstrap.h"

namespace rondo {

class HostSegment {
 public:
  struct Placement {
    std::vector<int> host_of_rank;  // equal numbers: ranks that share memory
    std::unique_ptr<HostSegment> segment;
    std::string warning;  // why a host had to be split, or empty
  };

  // Collective over `bootstrap`. `host_of_rank` is the wished grouping.
  static Result<Placement> Create(Bootstrap* bootstrap,
                                  std::vector<int> host_of_rank,
                                  Deadline deadline);
  ~HostSegment();
  HostSegment(const HostSegment&) = delete;
  HostSegment& operator=(const HostSegment&) = delete;

  int local_rank() const { return local_rank_; }
  int local_size() const { return local_size_; }
  // CPUs that the ranks of this host may use together; at least 1. Known once
  // Create() has returned.
  int usable_cpus() const { return usable_cpus_; }

  HostArea& own() { return AreaOf(local_rank_); }
  const HostArea& of(int local_peer) const { return AreaOf(local_peer); }

  // Publishes this rank's header of call `header.sequence`. Where the header
  // names a symmetric segment, its name must lie in the slot of NextSlot().
  void Post(const CallHeader& header);
  HostArea::Slot& NextSlot(uint64_t sequence) {
    return own().slots[sequence % kCallSlots];
  }
  // The header of `local_peer` for that call; null while it has not arrived.
  const CallHeader* Posted(int local_peer, uint64_t sequence) const {
    const HostArea::Slot& slot =
        AreaOf(local_peer).slots[sequence % kCallSlots];
    const bool there =
        slot.sequence.load(std::memory_order_acquire) == sequence;
    return there ? &slot.header : nullptr;
  }
  // The agreement alone, which lies in the line that a waiting rank looks at.
  enum class Arrival { kMissing, kAgrees, kDiffers };
  Arrival ArrivalOf(int local_peer, const CallHeader& mine) const {
    const HostArea::Slot& slot =
        AreaOf(local_peer).slots[mine.sequence % kCallSlots];
    if (slot.sequence.load(std::memory_order_acquire) != mine.sequence) {
      return Arrival::kMissing;
    }
    return slot.agreement == mine.agreement ? Arrival::kAgrees
                                            : Arrival::kDiffers;
  }
  // The process that `local_peer` runs in, and an address that is valid there.
  int ProcessId(int local_peer) const;
  uint64_t ProbeAddress(int local_peer) const;

  // Peers' memory. A rank that fails hands its buffers back to the caller, so
  // nobody may touch them any more: Close() says so, and WaitUntouched() waits
  // for those who are at it. A rank touches peers' memory only between
  // BeginTouch(), while AnyClosed() is false, and EndTouch().
  void BeginTouch();
  void EndTouch();
  bool AnyClosed() const;
  void Close();
  void WaitUntouched(Deadline deadline) const;

  // Where the ranks have fewer CPUs than they are, one that has waited for long
  // sleeps until another rank of the host has stored something that it may be
  // waiting for, or `longest_ms` have passed. `is_there` looks once more
  // when everybody knows of the sleeper: true ends the wait at once.
  bool may_sleep() const { return usable_cpus_ < local_size_; }
  void Sleep(FunctionRef<bool()> is_there, int longest_ms);
  // Wakes those who sleep: after every such store.
  void Ring() {
    if (may_sleep()) WakeSleepers();
  }

  // Raises `flag` at `local_peer` for call `sequence`.
  void Raise(int local_peer, int flag, uint64_t sequence);
  bool Raised(int local_peer, int flag, uint64_t sequence) const;

 private:
  HostSegment(void* memory, size_t bytes, int local_rank, int local_size);
  static size_t Bytes(int local_size);
  void CountCpus();
  void WakeSleepers();
  static Result<std::unique_ptr<HostSegment>> Map(int file, int local_rank,
                                                  int local_size);
  // From the invitation of the host's first rank.
  static Result<std::unique_ptr<HostSegment>> Accept(const std::string& blob,
                                                     int local_rank,
                                                     int local_size);
  static Result<std::unique_ptr<HostSegment>> Alone();
  HostArea& AreaOf(int local_peer) const {
    return static_cast<HostArea*>(memory_)[local_peer];
  }
  std::atomic<uint64_t>& Flag(int to, int from, int flag) const;

  void* memory_;
  size_t bytes_;
  int local_rank_;
  int local_size_;
  int usable_cpus_ = 1;
};

}  // namespace rondo
