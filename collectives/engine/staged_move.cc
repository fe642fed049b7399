#include "collectives/engine/staged_move.h"

#include <algorithm>

#include "collectives/kernels/copy.h"
#include "collectives/kernels/reduce.h"

namespace rondo {
namespace {

constexpr size_t kCacheLine = 64;

// A block's part of a piece: a reduce-scatter shares it between all blocks.
size_t PartBytes(Collective collective, int ranks) {
  if (collective != Collective::kReduceScatter) return kStagedPieceBytes;
  return kStagedPieceBytes / ranks / kCacheLine * kCacheLine;
}

}  // namespace

StagedMove::StagedMove(CallContext* context)
    : context_(context),
      reduce_part_bytes_(PartBytes(Collective::kReduceScatter, context->ranks)),
      sources_(context->ranks) {}

bool StagedMove::Fits(int ranks) {
  return PartBytes(Collective::kReduceScatter, ranks) > 0;
}

bool StagedMove::FitsOnePiece(const CallArguments& arguments, int ranks) {
  return arguments.counts.largest() <= PartBytes(arguments.collective, ranks) /
                                           ElementSize(arguments.input_type);
}

void StagedMove::Begin(const CallArguments* arguments) {
  arguments_ = arguments;
  with_header_ = false;
  small_ = false;
  element_bytes_ = ElementSize(arguments->input_type);
  const bool reduces = arguments->collective == Collective::kReduceScatter;
  block_bytes_ = reduces ? reduce_part_bytes_ : kStagedPieceBytes;
  piece_elements_ = block_bytes_ / element_bytes_;
  const size_t largest = arguments->counts.largest();
  // A division that most calls can do without.
  pieces_ = largest <= piece_elements_
                ? largest > 0
                : static_cast<int64_t>((largest - 1) / piece_elements_) + 1;
  store_ = context_->StoreFor(arguments->counts.total() * element_bytes_);
  published_ = 0;
  consumed_ = 0;
  first_ = next_;
  next_ += static_cast<uint64_t>(pieces_);
}

void StagedMove::BeginWithHeader(const CallArguments* arguments,
                                 uint64_t sequence) {
  Begin(arguments);
  with_header_ = true;
  sequence_ = sequence;
  const size_t largest_bytes = arguments->counts.largest() * element_bytes_;
  const bool reduces = arguments->collective == Collective::kReduceScatter;
  small_ = largest_bytes * (reduces ? context_->ranks : 1) <= kSmallBytes;
  if (small_ && reduces) block_bytes_ = largest_bytes;
}

void StagedMove::HeadersArrived() {
  all_read_ = std::max(all_read_, first_);
  if (with_header_ && pieces_ > 0) {
    all_published_ = std::max(all_published_, first_ + 1);
  }
}

const char* StagedMove::PieceOf(int peer, uint64_t number) const {
  const HostArea& area = context_->segment->of(context_->local_index[peer]);
  return small_ ? area.slots[sequence_ % kCallSlots].small
                : area.staging[number % kStagedPieces];
}

size_t StagedMove::CountOf(int block, int64_t piece) const {
  const size_t count = arguments_->counts[block];
  const size_t offset = OffsetOf(piece);
  return offset >= count ? 0 : std::min(piece_elements_, count - offset);
}

const char* StagedMove::InputOf(int block, int64_t piece) const {
  const bool one_block = arguments_->collective == Collective::kAllGather;
  const size_t before = one_block ? 0 : arguments_->counts.Before(block);
  return static_cast<const char*>(arguments_->input) +
         (before + OffsetOf(piece)) * element_bytes_;
}

char* StagedMove::OutputOf(int block, int64_t piece) const {
  const bool one_block = arguments_->collective == Collective::kReduceScatter;
  const size_t before = one_block ? 0 : arguments_->counts.Before(block);
  return static_cast<char*>(arguments_->output) +
         (before + OffsetOf(piece)) * element_bytes_;
}

bool StagedMove::SlotIsFree(uint64_t number) {
  if (number < all_read_ + kStagedPieces) return true;
  uint64_t least = UINT64_MAX;
  const HostSegment& segment = *context_->segment;
  for (int peer = 0; peer < segment.local_size(); ++peer) {
    if (peer == segment.local_rank()) continue;
    least = std::min(least, segment.of(peer).consumed_pieces.load(
                                std::memory_order_acquire));
  }
  all_read_ = least;
  return number < all_read_ + kStagedPieces;
}

bool StagedMove::TryPublish() {
  const uint64_t number = first_ + static_cast<uint64_t>(published_);
  if (published_ == pieces_ || !SlotIsFree(number)) return false;
  HostArea& own = context_->segment->own();
  char* slot = small_ ? own.slots[sequence_ % kCallSlots].small
                      : own.staging[number % kStagedPieces];
  if (arguments_->collective == Collective::kReduceScatter) {
    StageReduceScatter(published_, slot);
  } else {
    StageAllGather(published_, slot);
  }
  ++published_;
  own.published_pieces.store(number + 1, std::memory_order_release);
  context_->segment->Ring();
  return true;
}

void StagedMove::StageAllGather(int64_t piece, char* slot) {
  const int rank = context_->rank;
  const size_t bytes = CountOf(rank, piece) * element_bytes_;
  if (bytes == 0) return;
  CopyBytes(slot, InputOf(rank, piece), bytes);
}

void StagedMove::StageReduceScatter(int64_t piece, char* slot) {
  for (int block = 0; block < context_->ranks; ++block) {
    const size_t bytes = CountOf(block, piece) * element_bytes_;
    if (block == context_->rank || bytes == 0) continue;
    CopyBytes(slot + block * block_bytes_, InputOf(block, piece), bytes);
  }
}

bool StagedMove::AllPublished(uint64_t number) {
  if (number < all_published_) return true;
  uint64_t least = UINT64_MAX;
  const HostSegment& segment = *context_->segment;
  for (int peer = 0; peer < segment.local_size(); ++peer) {
    least = std::min(least, segment.of(peer).published_pieces.load(
                                std::memory_order_acquire));
    if (least <= number) return false;
  }
  all_published_ = least;
  return true;
}

bool StagedMove::Consume(bool* moved) {
  while (consumed_ < published_) {
    const uint64_t number = first_ + static_cast<uint64_t>(consumed_);
    if (!AllPublished(number)) break;
    if (arguments_->collective == Collective::kReduceScatter) {
      ReadReduceScatter(consumed_, number);
    } else {
      ReadAllGather(consumed_, number);
    }
    ++consumed_;
    context_->segment->own().consumed_pieces.store(number + 1,
                                                   std::memory_order_release);
    context_->segment->Ring();
    *moved = true;
  }
  return consumed_ == pieces_;
}

// Only now is it known that the call matches, so that outputs may be touched.
void StagedMove::ReadAllGather(int64_t piece, uint64_t number) {
  const int rank = context_->rank;
  CopyBytes(OutputOf(rank, piece), InputOf(rank, piece),
            CountOf(rank, piece) * element_bytes_, store_);
  for (int distance = 1; distance < context_->ranks; ++distance) {
    const int peer = (rank + distance) % context_->ranks;
    const size_t bytes = CountOf(peer, piece) * element_bytes_;
    if (bytes == 0) continue;
    CopyBytes(OutputOf(peer, piece), PieceOf(peer, number), bytes, store_);
  }
}

void StagedMove::ReadReduceScatter(int64_t piece, uint64_t number) {
  const int rank = context_->rank;
  const size_t count = CountOf(rank, piece);
  if (count == 0) return;
  for (int peer = 0; peer < context_->ranks; ++peer) {
    sources_[peer] = peer == rank ? InputOf(rank, piece)
                                  : PieceOf(peer, number) + rank * block_bytes_;
  }
  const bool average = arguments_->reduction == Reduction::kAverage;
  ReduceElements(arguments_->input_type, arguments_->reduction, sources_.data(),
                 context_->ranks, OutputOf(rank, piece), count,
                 ReduceScale{.divisor = average ? context_->ranks : 1}, store_);
}

int StagedMove::WaitsFor() const {
  if (consumed_ == pieces_) return -1;
  const uint64_t number = first_ + static_cast<uint64_t>(consumed_);
  for (int peer = 0; peer < context_->ranks; ++peer) {
    const HostArea& area = context_->segment->of(context_->local_index[peer]);
    if (area.published_pieces.load(std::memory_order_acquire) <= number ||
        area.consumed_pieces.load(std::memory_order_acquire) < number) {
      return peer;
    }
  }
  return -1;
}

}  // namespace rondo
