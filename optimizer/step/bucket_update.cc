#include "optimizer/step/bucket_update.h"

#include <algorithm>

#include "fmt/format.h"
#include "optimizer/kernels/measure_tile.h"
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
  ragged_.clear();
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
    if (setting_->phase == UpdatePhase::kReduce ||
        setting_->phase == UpdatePhase::kMeasure) {
      ReducePart(part, sources);
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
       .scale = kept ? 1 : setting_->scale,
       .coefficient = setting_->coefficient,
       .destinations = destinations,
       .hint =
           destinations.empty() ? StoreHint::kCached : destinations[0].store,
       .offset = part.range_offset,
       .count = part.count,
       .parameter = state.master.data() + at,
       .states = arrays});
}

float* BucketUpdate::KeptAt(const Part& part) const {
  if (setting_->phase == UpdatePhase::kMeasure) return nullptr;
  return setting_->state->gradient.data() + part.state_offset();
}

void BucketUpdate::ReducePart(const Part& part,
                              std::span<const ConstElements> sources) {
  for (size_t done = 0; done < part.count;) {
    Part tile = part;
    tile.begin += done;
    tile.range_offset += done;
    tile.count =
        std::min(part.count - done, kTileElements - tile.begin % kTileElements);
    ReduceTile(tile, sources);
    done += tile.count;
  }
}

// Every square is summed within its whole tile, however the tile came.
void BucketUpdate::ReduceTile(const Part& part,
                              std::span<const ConstElements> sources) {
  const bool whole =
      part.begin % kTileElements == 0 &&
      part.count == std::min(part.piece->end - part.begin, kTileElements);
  if (!whole) return ReduceRaggedTile(part, sources);
  const SquaredSum measured =
      SumAndMeasureTile(sources, part.range_offset, part.count, setting_->scale,
                        KeptAt(part), StoreHint::kStream);
  // A sum that is not finite says so itself.
  if (setting_->squares != nullptr) setting_->squares->Add(measured.sum);
}

void BucketUpdate::ReduceRaggedTile(const Part& part,
                                    std::span<const ConstElements> sources) {
  const size_t begin = part.begin / kTileElements * kTileElements;
  const size_t count = std::min(part.piece->end - begin, kTileElements);
  RaggedTile& tile = ragged_[begin];
  tile.sums.resize(count);
  float* const sums = tile.sums.data() + (part.begin - begin);
  SumGradientTile(sources, part.range_offset, part.count, setting_->scale,
                  sums);
  if (float* const kept = KeptAt(part)) std::copy_n(sums, part.count, kept);
  tile.count += part.count;
  if (tile.count < count) return;
  if (setting_->squares != nullptr) {
    setting_->squares->Add(TileSquaredSum(tile.sums.data(), count).sum);
  }
  ragged_.erase(begin);
}

}  // namespace rondo
