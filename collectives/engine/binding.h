// Binding: what ties a shape to one call: element counts, types, chunk size,
// where the blocks lie, and how a peer's space is reached.
//
// A Binding belongs to one rank and, from Reset() on, to one call; the engine
// keeps it from call to call, so that a call allocates nothing. It answers one
// question: which memory does block `b` of this space have at chunk `c`? All of
// its arithmetic is in size_t elements, checked against overflow when the call
// was accepted.
//
// Thread-safety: one thread at a time. Ownership: refers to the arguments, to
// the caller's buffers and to the engine's scratch. Failure: none; arguments
// were checked before.
//
// Example:
//   Piece piece = binding.PieceAt(step.sources[0].At(k), chunk, slot);
//   transport->Send(peer, lane, tag, {piece.data, piece.bytes()}, &transfer);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/engine/block_counts.h"
#include "collectives/engine/update.h"
#include "collectives/kernels/data_type.h"
#include "collectives/plan/plan.h"

namespace rondo {

// The arguments of one collective, checked and owned by the engine.
struct CallArguments {
  Collective collective = Collective::kAllGather;
  const void* input = nullptr;
  void* output = nullptr;
  BlockCounts counts;  // of the logical blocks
  DataType input_type = DataType::kFloat32;
  DataType output_type = DataType::kFloat32;
  Reduction reduction = Reduction::kSum;
  int root = 0;
  std::vector<size_t> parameter_counts;  // sharded step
  Update* update = nullptr;
  uint64_t update_fingerprint = 0;
};

// How this rank reaches another's spaces. (A fourth way, by pieces in shared
// slots, needs the other's help: staged_move.h.)
enum class Reach : uint8_t {
  kMapped,      // plain loads and stores: symmetric memory, or one process
  kReadAcross,  // process_vm_readv: another process of this host
  kMessage,     // only by send and recv
};

struct Piece {
  char* data = nullptr;
  size_t count = 0;         // elements
  size_t block_offset = 0;  // of the first element within its block
  DataType type = DataType::kFloat32;
  Reach reach = Reach::kMapped;

  size_t bytes() const { return count * ElementSize(type); }
};

// Where a space of a rank begins, in the address space that `reach` names.
struct SpaceAddress {
  uint64_t address = 0;
  Reach reach = Reach::kMessage;
};

class Binding {
 public:
  // `arguments` must stay where they are until the next Reset().
  void Reset(const CallArguments& arguments, int ranks, int rank,
             size_t chunk_bytes);

  // Number of chunk indices: the longest block's.
  int64_t chunk_count() const { return chunk_count_; }
  size_t chunk_elements() const { return chunk_elements_; }
  // Bytes of scratch for `blocks` blocks of each of `slots` chunks in flight.
  size_t ScratchBytes(int blocks, int slots) const;
  void SetScratch(char* scratch, int blocks_per_slot);
  // Where the spaces of `rank` begin.
  void SetPeer(int rank, SpaceAddress input, SpaceAddress output);

  // The memory of a single block (count 1) at a chunk index, empty when the
  // block ends before it. `slot` names the chunk's scratch.
  Piece PieceAt(const BlockRef& block, int64_t chunk, int slot) const;

  // Where block `block` begins in the whole vector.
  size_t VectorOffset(int block) const {
    return arguments_->counts.Before(block);
  }

 private:
  struct Spaces {
    SpaceAddress input;
    SpaceAddress output;
  };
  DataType TypeOf(Space space) const;

  // The first logical block that a space of `owner` holds.
  int FirstBlock(Space space, int owner) const;

  const CallArguments* arguments_ = nullptr;
  std::vector<Spaces> peers_;
  size_t chunk_elements_ = 1;
  int64_t chunk_count_ = 0;
  char* scratch_ = nullptr;
  int scratch_blocks_ = 0;
};

}  // namespace rondo
