#include "optimizer/step/bucket_update.h"

#include <algorithm>

#include "fmt/format.h"
#include "optimizer/kernels/tile_kernels.h"

namespace rondo {

BucketUpdate::BucketUpdate(const ModelLayout& layout, int bucket, int rank) {
  const LayoutBucket& whole = layout.buckets()[bucket];
  begin_ = whole.ShardOffset(layout.world_size(), rank);
  count_ = whole.ShardCount(layout.world_size());
  for (const ShardPiece& piece : layout.ShardPieces(bucket, rank)) {
    pieces_.push_back({piece.bucket_offset, piece.bucket_offset + piece.count,
                       piece.state_offset,
                       layout.parameters()[piece.parameter].group});
  }
}

void BucketUpdate::Begin(const UpdateSetting* setting) {
  setting_ = setting;
  applied_count_ = 0;
  partly_kept_.clear();
}

Result<UpdateOutcome> BucketUpdate::Apply(
    const UpdateRange& range, std::span<const ConstElements> sources,
    std::span<const MutableElements> destinations) {
  const size_t end = range.vector_offset + range.count;
  if (range.vector_offset < begin_ || end > begin_ + count_) {
    return Internal(fmt::format(
        "update of elements {} to {} of a bucket, of which this rank owns {} "
        "to {}",
        range.vector_offset, end, begin_, begin_ + count_));
  }
  auto piece = std::upper_bound(
      pieces_.begin(), pieces_.end(), range.vector_offset,
      [](size_t position, const Piece& p) { return position < p.end; });
  for (; piece != pieces_.end() && piece->begin < end; ++piece) {
    const size_t piece_end = std::min(end, piece->end);
    size_t at = std::max(range.vector_offset, piece->begin);
    while (at < piece_end) {
      const size_t tile_end = (at / kTileElements + 1) * kTileElements;
      const size_t count = std::min(piece_end, tile_end) - at;
      ApplyPart({&*piece, at, count, at - range.vector_offset}, sources,
                destinations);
      at += count;
    }
  }
  FenceStreamedStores();
  applied_count_ += range.count;
  return UpdateOutcome::kDone;
}

void BucketUpdate::ApplyPart(const Part& part,
                             std::span<const ConstElements> sources,
                             std::span<const MutableElements> destinations) {
  alignas(64) float gradient[kTileElements];
  if (setting_->phase != UpdatePhase::kApply) {
    SumGradientTile(sources, part.range_offset, part.count, setting_->scale,
                    gradient);
    if (setting_->phase == UpdatePhase::kWhole) {
      return Store(part, gradient, destinations);
    }
  }
  float* const kept = setting_->state->gradient.data() +
                      part.piece->state_offset +
                      (part.begin - part.piece->begin);
  if (setting_->phase == UpdatePhase::kReduce) {
    return Keep(part, gradient, kept);
  }
  if (setting_->coefficient == 1) return Store(part, kept, destinations);
  const ConstElements source{DataType::kFloat32, kept};
  SumGradientTile({&source, 1}, 0, part.count, setting_->coefficient, gradient);
  Store(part, gradient, destinations);
}

void BucketUpdate::Store(const Part& part, const float* gradient,
                         std::span<const MutableElements> destinations) {
  ShardState& state = *setting_->state;
  const size_t at = part.piece->state_offset + (part.begin - part.piece->begin);
  float* const master = state.master.data() + at;
  float* arrays[kMaxRuleStates] = {};
  for (size_t i = 0; i < state.arrays.size(); ++i) {
    arrays[i] = state.arrays[i].data() + at;
  }
  setting_->rule->ApplyTile(part.piece->group, gradient, master, arrays,
                            part.count);
  if (destinations.empty()) return;
  StoreParameterTile(master, part.count, destinations, part.range_offset,
                     destinations[0].store);
}

// Every square is summed within its whole tile, however the tile came.
void BucketUpdate::Keep(const Part& part, const float* gradient, float* kept) {
  const size_t tile = part.begin / kTileElements * kTileElements;
  const size_t tile_count =
      std::min(part.piece->end, tile + kTileElements) - tile;
  const bool whole = part.count == tile_count;
  const MutableElements to{DataType::kFloat32, kept};
  StoreParameterTile(gradient, part.count, {&to, 1}, 0,
                     whole ? StoreHint::kStream : StoreHint::kCached);
  if (setting_->squares == nullptr) return;
  if (!whole) {
    size_t& so_far = partly_kept_[tile];
    so_far += part.count;
    if (so_far < tile_count) return;
    gradient = kept - (part.begin - tile);
    partly_kept_.erase(tile);
  }
  // A sum that is not finite says so itself.
  setting_->squares->Add(TileSquaredSum(gradient, tile_count).sum);
}

}  // namespace rondo
