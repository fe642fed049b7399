#include "optimizer/step/bucket_update.h"

#include <algorithm>

#include "fmt/format.h"
#include "optimizer/kernels/tile_kernels.h"
#include "optimizer/kernels/update_elements.h"

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
    const size_t at = std::max(range.vector_offset, piece->begin);
    const Part part{&*piece, at, std::min(end, piece->end) - at,
                    at - range.vector_offset};
    if (setting_->phase == UpdatePhase::kReduce) {
      KeepPart(part, sources);
    } else {
      UpdatePart(part, sources, destinations);
    }
  }
  FenceStreamedStores();
  applied_count_ += range.count;
  return UpdateOutcome::kDone;
}

void BucketUpdate::UpdatePart(const Part& part,
                              std::span<const ConstElements> sources,
                              std::span<const MutableElements> destinations) {
  ShardState& state = *setting_->state;
  const size_t at = part.state_offset();
  float* arrays[kMaxRuleStates] = {};
  for (size_t i = 0; i < state.arrays.size(); ++i) {
    arrays[i] = state.arrays[i].data() + at;
  }
  const bool kept = setting_->phase == UpdatePhase::kApply;
  // What was kept begins with the shard, not with the range, which both sources
  // and destinations count from.
  const ConstElements own{
      DataType::kFloat32,
      reinterpret_cast<const void*>(
          reinterpret_cast<uintptr_t>(state.gradient.data()) +
          (at - part.range_offset) * sizeof(float))};
  UpdateElements(
      *setting_->rule, part.piece->group,
      {.sources = kept ? std::span<const ConstElements>(&own, 1) : sources,
       .scale = kept ? setting_->coefficient : setting_->scale,
       .destinations = destinations,
       .hint =
           destinations.empty() ? StoreHint::kCached : destinations[0].store,
       .offset = part.range_offset,
       .count = part.count,
       .parameter = state.master.data() + at,
       .states = arrays});
}

void BucketUpdate::KeepPart(const Part& part,
                            std::span<const ConstElements> sources) {
  for (size_t done = 0; done < part.count;) {
    Part tile = part;
    tile.begin += done;
    tile.range_offset += done;
    tile.count =
        std::min(part.count - done, kTileElements - tile.begin % kTileElements);
    KeepTile(tile, sources);
    done += tile.count;
  }
}

// Every square is summed within its whole tile, however the tile came.
void BucketUpdate::KeepTile(const Part& part,
                            std::span<const ConstElements> sources) {
  alignas(64) float gradient[kTileElements];
  SumGradientTile(sources, part.range_offset, part.count, setting_->scale,
                  gradient);
  const size_t tile = part.begin / kTileElements * kTileElements;
  const size_t tile_count =
      std::min(part.piece->end, tile + kTileElements) - tile;
  const bool whole = part.count == tile_count;
  float* const kept = setting_->state->gradient.data() + part.state_offset();
  const MutableElements to{DataType::kFloat32, kept};
  StoreParameterTile(gradient, part.count, {&to, 1}, 0,
                     whole ? StoreHint::kStream : StoreHint::kCached);
  if (setting_->squares == nullptr) return;
  const float* measured = gradient;
  if (!whole) {
    size_t& so_far = partly_kept_[tile];
    so_far += part.count;
    if (so_far < tile_count) return;
    measured = kept - (part.begin - tile);
    partly_kept_.erase(tile);
  }
  // A sum that is not finite says so itself.
  setting_->squares->Add(TileSquaredSum(measured, tile_count).sum);
}

}  // namespace rondo
