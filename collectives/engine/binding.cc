#include "collectives/engine/binding.h"

#include <algorithm>
#include <numeric>

namespace rondo {

size_t CallArguments::TotalCount() const {
  return std::accumulate(counts.begin(), counts.end(), size_t{0});
}

size_t CallArguments::LargestBlock() const {
  return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
}

Binding::Binding(const CallArguments& arguments, const Shape& shape, int rank,
                 size_t chunk_bytes)
    : collective_(arguments.collective),
      counts_(arguments.counts),
      peers_(shape.ranks),
      input_type_(arguments.input_type),
      output_type_(arguments.output_type) {
  for (int r = 0; r < shape.ranks; ++r) {
    input_spans_.push_back(BlocksOf(shape, Space::kInput, r));
    output_spans_.push_back(BlocksOf(shape, Space::kOutput, r));
  }
  starts_.assign(counts_.size() + 1, 0);
  std::partial_sum(counts_.begin(), counts_.end(), starts_.begin() + 1);
  const size_t widest =
      std::max(ElementSize(input_type_), ElementSize(output_type_));
  chunk_elements_ = std::max<size_t>(1, chunk_bytes / widest);
  const size_t largest = arguments.LargestBlock();
  chunk_count_ = static_cast<int64_t>(largest / chunk_elements_) +
                 (largest % chunk_elements_ != 0);
  SetPeer(rank, reinterpret_cast<uint64_t>(arguments.input),
          reinterpret_cast<uint64_t>(arguments.output));
}

size_t Binding::ScratchBytes(int blocks, int slots) const {
  return static_cast<size_t>(blocks) * slots * chunk_elements_ *
         ElementSize(TypeOf(Space::kScratch));
}

void Binding::SetScratch(char* scratch, int blocks_per_slot) {
  scratch_ = scratch;
  scratch_blocks_ = blocks_per_slot;
}

void Binding::SetPeer(int rank, uint64_t input_address,
                      uint64_t output_address) {
  peers_[rank] = {input_address, output_address};
}

DataType Binding::TypeOf(Space space) const {
  // Partial sums travel in the type of the data that is summed.
  return space == Space::kOutput ? output_type_ : input_type_;
}

Piece Binding::PieceAt(const BlockRef& block, int64_t chunk, int slot) const {
  const int logical = block.LogicalBlock();
  const size_t count = counts_[logical];
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
  const bool input = block.space == Space::kInput;
  const BlockSpan span = (input ? input_spans_ : output_spans_)[block.owner];
  const size_t within = starts_[logical] - starts_[span.first];
  const Spaces& peer = peers_[block.owner];
  piece.data = reinterpret_cast<char*>(input ? peer.input : peer.output) +
               (within + piece.block_offset) * element_bytes;
  return piece;
}

}  // namespace rondo
