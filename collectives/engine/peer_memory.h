// PeerMemory: reads and writes blocks in the memory of other ranks of this
// host.
//
// Ranks of one process share addresses, so a block is used where it lies.
// Another process's block is read with process_vm_readv, in pieces that stay in
// cache, into bounce buffers that are kept from call to call; never a second
// full-size copy. Ranks of other hosts are reached by messages only.
//
// Thread-safety: one thread at a time, the one inside the engine. Ownership:
// owns the bounce buffers. Failure: names the rank and the system's reason.
//
// Example:
//   peers.SetReach(rank, Reach::kReadAcross, process_id);
//   RONDO_RETURN_IF_ERROR(peers.ForEachReadable(
//       sources, pieces, [&](auto buffers, size_t first, size_t count) {...}));
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collectives/engine/binding.h"
#include "transports/base/status.h"

namespace rondo {

// A piece of a block, and the rank in whose memory it lies.
struct OwnedPiece {
  int owner = 0;
  Piece piece;
};

class PeerMemory {
 public:
  PeerMemory(int rank, int ranks);

  void SetReach(int rank, Reach reach, pid_t process_id);
  Reach ReachOf(int rank) const { return peers_[rank].reach; }

  // Calls `use(addresses, first, count)` over pieces of equal `count`s, with
  // addresses that are valid here: once for all elements if every source is,
  // else for one cache-sized part after the other. `use` returns how many of
  // the `count` elements it consumed; fewer ends the walk, and `*consumed`
  // tells.
  using Use = std::function<Result<size_t>(std::span<const void* const> data,
                                           size_t first, size_t count)>;
  Status ForEachReadable(std::span<const OwnedPiece> sources, size_t from,
                         const Use& use, size_t* consumed);
  // Copies `from`, readable here, into `to`.
  Status Write(const OwnedPiece& to, const void* from);

  uint64_t bytes_read() const { return bytes_read_; }
  // Whether this process may read that one's memory, tried on one byte.
  static bool CanRead(pid_t process_id, uint64_t address);

 private:
  struct Peer {
    Reach reach = Reach::kMessage;
    pid_t process_id = 0;
  };
  Result<const void*> Readable(const OwnedPiece& source, size_t first,
                               size_t count, int bounce);

  int rank_;
  std::vector<Peer> peers_;
  std::vector<std::vector<char>> bounces_;
  std::vector<const void*> addresses_;
  uint64_t bytes_read_ = 0;
};

}  // namespace rondo
