#include "collectives/engine/binding.h"

#include <algorithm>

namespace rondo {

void Binding::Reset(const CallArguments& arguments, int ranks, int rank,
                    size_t chunk_bytes) {
  arguments_ = &arguments;
  peers_.assign(ranks, Spaces());
  const size_t widest = std::max(ElementSize(arguments.input_type),
                                 ElementSize(arguments.output_type));
  chunk_elements_ = std::max<size_t>(1, chunk_bytes / widest);
  const size_t largest = arguments.counts.largest();
  chunk_count_ = static_cast<int64_t>(largest / chunk_elements_) +
                 (largest % chunk_elements_ != 0);
  SetPeer(rank, {reinterpret_cast<uint64_t>(arguments.input), Reach::kMapped},
          {reinterpret_cast<uint64_t>(arguments.output), Reach::kMapped});
}

size_t Binding::ScratchBytes(int blocks, int slots) const {
  return static_cast<size_t>(blocks) * slots * chunk_elements_ *
         ElementSize(TypeOf(Space::kScratch));
}

void Binding::SetScratch(char* scratch, int blocks_per_slot) {
  scratch_ = scratch;
  scratch_blocks_ = blocks_per_slot;
}

void Binding::SetPeer(int rank, SpaceAddress input, SpaceAddress output) {
  peers_[rank] = {input, output};
}

DataType Binding::TypeOf(Space space) const {
  // Partial sums travel in the type of the data that is summed.
  return space == Space::kOutput ? arguments_->output_type
                                 : arguments_->input_type;
}

// As the table in plan.h says.
int Binding::FirstBlock(Space space, int owner) const {
  const bool own_block_only =
      (arguments_->collective == Collective::kAllGather &&
       space == Space::kInput) ||
      (arguments_->collective == Collective::kReduceScatter &&
       space == Space::kOutput);
  return own_block_only ? owner : 0;
}

Piece Binding::PieceAt(const BlockRef& block, int64_t chunk, int slot) const {
  const int logical = block.LogicalBlock();
  const size_t count = arguments_->counts[logical];
  Piece piece;
  piece.type = TypeOf(block.space);
  piece.block_offset = static_cast<size_t>(chunk) * chunk_elements_;
  if (piece.block_offset >= count) return piece;
  piece.count = std::min(chunk_elements_, count - piece.block_offset);
  const size_t element_bytes = ElementSize(piece.type);
  if (block.space == Space::kScratch) {
    const size_t index =
        static_cast<size_t>(slot) * scratch_blocks_ + block.index;
    piece.data = scratch_ + index * chunk_elements_ * element_bytes;
    return piece;
  }
  const BlockCounts& counts = arguments_->counts;
  const size_t within = counts.Before(logical) -
                        counts.Before(FirstBlock(block.space, block.owner));
  const SpaceAddress& space = block.space == Space::kInput
                                  ? peers_[block.owner].input
                                  : peers_[block.owner].output;
  piece.data = reinterpret_cast<char*>(space.address) +
               (within + piece.block_offset) * element_bytes;
  piece.reach = space.reach;
  return piece;
}

}  // namespace rondo
