// StagedMove: moves the data of a call through shared slots, piece by piece.
//
// Every rank copies what its peers need into its part of the control segment
// and reads what they put into theirs, while both are in cache. It is how the
// direct plans reach a peer's input where it lies in ordinary memory: always
// for a small call, whose one piece is published together with its header, and
// for larger ones where the kernel does not let ranks read each other.
//
// An all-gather's piece is a part of the rank's block; a reduce-scatter's holds
// a part of every block but its own. Pieces are numbered through all calls of a
// communicator; piece n lies in slot n mod kStagedPieces, so it may be written
// when all peers have read piece n - kStagedPieces.
//
// Thread-safety: one thread at a time, the one inside the engine. Ownership:
// none; the arguments must stay until the end. Failure: none of its own.
//
// Example:
//   move.Begin(&arguments);
//   if (move.TryPublish()) ...   // as often as it has pieces
//   if (move.Consume()) ...      // true: everything has arrived
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/engine/binding.h"
#include "collectives/engine/call_context.h"
#include "collectives/kernels/store_hint.h"

namespace rondo {

class StagedMove {
 public:
  explicit StagedMove(CallContext* context);

  // Whether a host of so many ranks has room for pieces at all.
  static bool Fits(int ranks);
  // Whether the whole call fits one piece.
  static bool FitsOnePiece(const CallArguments& arguments, int ranks);

  // All-gather, reduce-scatter or barrier on one host.
  void Begin(const CallArguments* arguments);
  // The same for a call whose only piece goes with the header of `sequence`: a
  // few bytes even in the header's own cache line.
  void BeginWithHeader(const CallArguments* arguments, uint64_t sequence);
  // All headers of the call have arrived: so all peers have finished the call
  // before it, and published what they published before their header.
  void HeadersArrived();
  // Publishes the next piece; false when none is left, or no slot free yet.
  bool TryPublish();
  bool first_is_published() const { return published_ > 0 || pieces_ == 0; }
  // Reads every piece that all peers have published. True once all are read.
  bool Consume(bool* moved);
  // A peer that still owes a piece, or -1.
  int WaitsFor() const;

 private:
  // Where `peer` puts piece `number`.
  const char* PieceOf(int peer, uint64_t number) const;
  // Elements of `block` in piece `piece`, and where they begin.
  size_t CountOf(int block, int64_t piece) const;
  size_t OffsetOf(int64_t piece) const {
    return static_cast<size_t>(piece) * piece_elements_;
  }
  bool SlotIsFree(uint64_t number);
  bool AllPublished(uint64_t number);
  void StageAllGather(int64_t piece, char* slot);
  void StageReduceScatter(int64_t piece, char* slot);
  void ReadAllGather(int64_t piece, uint64_t number);
  void ReadReduceScatter(int64_t piece, uint64_t number);
  char* OutputOf(int block, int64_t piece) const;
  const char* InputOf(int block, int64_t piece) const;

  CallContext* context_;
  const size_t reduce_part_bytes_;  // a block's part of a piece
  const CallArguments* arguments_ = nullptr;
  size_t element_bytes_ = 1;
  size_t block_bytes_ = 0;     // a block's part of a piece
  size_t piece_elements_ = 0;  // of each block
  int64_t pieces_ = 0;
  int64_t published_ = 0;
  int64_t consumed_ = 0;
  uint64_t first_ = 0;     // number of this call's first piece
  uint64_t next_ = 0;      // of the next call's
  uint64_t all_read_ = 0;  // pieces that all peers are known to have read
  uint64_t all_published_ = 0;
  StoreHint store_ = StoreHint::kCached;  // of outputs
  bool with_header_ = false;
  bool small_ = false;  // the piece lies in the header's line
  uint64_t sequence_ = 0;
  std::vector<const void*> sources_;
};

}  // namespace rondo
