// PeerMemory: reads and writes blocks in the memory of other ranks of this
// host.
//
// A block that is mapped here is used where it lies. Another process's ordinary
// memory is read with process_vm_readv, in pieces that stay in cache, into
// bounce buffers that are kept from call to call; never a second full-size
// copy. Ranks of other hosts are reached by messages only.
//
// Thread-safety: one thread at a time, the one inside the engine. Ownership:
// owns the bounce buffers. Failure: names the rank and the system's reason.
//
// Example:
//   peers.SetProcess(rank, process_id);
//   RONDO_RETURN_IF_ERROR(peers.ForEachReadable(
//       sources, pieces, [&](auto buffers, size_t first, size_t count) {...}));
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/engine/binding.h"
#include "collectives/engine/function_ref.h"
#include "collectives/kernels/store_hint.h"
#include "transports/base/status.h"

namespace rondo {

// A piece of a block, and the rank in whose memory it lies.
struct OwnedPiece {
  int owner = 0;
  Piece piece;
};

class PeerMemory {
 public:
  explicit PeerMemory(int ranks) : process_ids_(ranks, 0) {}

  void SetProcess(int rank, pid_t process_id) {
    process_ids_[rank] = process_id;
  }

  // Calls `use(addresses, first, count)` over pieces of equal `count`s, with
  // addresses that are valid here: once for all elements if every source is,
  // else for one cache-sized part after the other. `use` returns how many of
  // the `count` elements it consumed; fewer ends the walk, and `*consumed`
  // tells.
  using Use = FunctionRef<Result<size_t>(std::span<const void* const> data,
                                         size_t first, size_t count)>;
  Status ForEachReadable(std::span<const OwnedPiece> sources, size_t from,
                         Use use, size_t* consumed);
  // Copies `from` of another process into `to` of this one.
  Status ReadInto(char* to, const OwnedPiece& from, StoreHint hint);
  // Copies `from`, readable here, into `to`.
  Status Write(const OwnedPiece& to, const void* from, StoreHint hint);

  uint64_t bytes_read() const { return bytes_read_; }
  void SetBytesRead(uint64_t bytes) { bytes_read_ = bytes; }
  // Whether this process may read that one's memory, tried on one byte.
  static bool CanRead(pid_t process_id, uint64_t address);

 private:
  Result<const void*> Readable(const OwnedPiece& source, size_t first,
                               size_t count, int bounce);
  // Memory of this rank as far from a cache line as `address` is.
  char* Bounce(int index, const char* address);

  std::vector<pid_t> process_ids_;
  std::vector<std::vector<char>> bounces_;
  std::vector<const void*> addresses_;
  uint64_t bytes_read_ = 0;
};

}  // namespace rondo
