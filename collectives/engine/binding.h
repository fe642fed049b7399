// Binding: what ties a shape to one call: element counts, types, chunk size,
// where the blocks lie, and how a peer's space is reached.
//
// A Binding belongs to one rank and one call. It answers one question: which
// memory does block `b` of this space have at chunk `c`? All of its arithmetic
// is in size_t elements, checked against overflow when the call was accepted.
//
// Thread-safety: immutable. Ownership: refers to the caller's buffers and to
// the engine's scratch. Failure: none; arguments were checked before.
//
// Example:
//   Piece piece = binding.PieceAt(step.sources[0].At(k), chunk, slot);
//   transport->Send(peer, lane, tag, {piece.data, piece.bytes()}, &transfer);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/engine/update.h"
#include "collectives/kernels/data_type.h"
#include "collectives/plan/plan.h"

namespace rondo {

// The arguments of one collective, checked and owned by the engine.
struct CallArguments {
  Collective collective = Collective::kAllGather;
  const void* input = nullptr;
  void* output = nullptr;
  std::vector<size_t> counts;  // elements of each logical block
  DataType input_type = DataType::kFloat32;
  DataType output_type = DataType::kFloat32;
  Reduction reduction = Reduction::kSum;
  int root = 0;
  std::vector<size_t> parameter_counts;  // sharded step
  Update* update = nullptr;

  size_t TotalCount() const;
  size_t LargestBlock() const;
};

// How this rank reaches another's spaces.
enum class Reach : uint8_t {
  kMapped,      // its addresses are valid here: ranks of one process
  kReadAcross,  // process_vm_readv: another process of this host
  kMessage,     // only by send and recv
};

struct Piece {
  char* data = nullptr;
  size_t count = 0;         // elements
  size_t block_offset = 0;  // of the first element within its block
  DataType type = DataType::kFloat32;

  size_t bytes() const { return count * ElementSize(type); }
};

class Binding {
 public:
  Binding(const CallArguments& arguments, const Shape& shape, int rank,
          size_t chunk_bytes);

  // Number of chunk indices: the longest block's.
  int64_t chunk_count() const { return chunk_count_; }
  size_t chunk_elements() const { return chunk_elements_; }
  // Bytes of scratch for `blocks` blocks of each of `slots` chunks in flight.
  size_t ScratchBytes(int blocks, int slots) const;
  void SetScratch(char* scratch, int blocks_per_slot);
  // Where a peer's spaces begin, in an address space named by its Reach.
  void SetPeer(int rank, uint64_t input_address, uint64_t output_address);

  // The memory of a single block (count 1) at a chunk index, empty when the
  // block ends before it. `slot` names the chunk's scratch.
  Piece PieceAt(const BlockRef& block, int64_t chunk, int slot) const;

  // Where block `block` begins in the whole vector.
  size_t VectorOffset(int block) const { return starts_[block]; }

 private:
  struct Spaces {
    uint64_t input = 0;
    uint64_t output = 0;
  };
  DataType TypeOf(Space space) const;

  Collective collective_;
  std::vector<BlockSpan> input_spans_;  // per rank
  std::vector<BlockSpan> output_spans_;
  std::vector<size_t> counts_;
  std::vector<size_t> starts_;  // prefix sums of counts_
  std::vector<Spaces> peers_;
  DataType input_type_;
  DataType output_type_;
  size_t chunk_elements_;
  int64_t chunk_count_ = 0;
  char* scratch_ = nullptr;
  int scratch_blocks_ = 0;
};

}  // namespace rondo
