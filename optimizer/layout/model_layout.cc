#include "optimizer/layout/model_layout.h"

#include <algorithm>
#include <utility>

#include "optimizer/layout/build_buckets.h"
#include "optimizer/layout/check_parameters.h"

namespace rondo {
namespace {

PlacedPiece Placed(const LayoutBucket& bucket, int bucket_number,
                   const LayoutPiece& piece) {
  return {
      .bucket = bucket_number,
      .parameter_offset = piece.parameter_offset,
      .count = piece.count,
      .bucket_offset = piece.bucket_offset,
      .gradient_offset = bucket.frozen
                             ? kNoOffset
                             : bucket.gradient_offset + piece.bucket_offset,
      .parameter_offset_bytes = bucket.parameter_offset_bytes +
                                piece.bucket_offset * ElementSize(bucket.type)};
}

}  // namespace

Result<ModelLayout> ModelLayout::Create(std::vector<LayoutParameter> parameters,
                                        LayoutOptions options) {
  ModelLayout layout;
  layout.options_ = options;
  RONDO_ASSIGN_OR_RETURN(layout.storage_,
                         CheckLayoutParameters(parameters, options));
  RONDO_ASSIGN_OR_RETURN(layout.buckets_, BuildBuckets(parameters, options));
  layout.pieces_.resize(parameters.size());
  for (int i = 0; i < static_cast<int>(layout.buckets_.size()); ++i) {
    const LayoutBucket& bucket = layout.buckets_[i];
    for (const LayoutPiece& piece : bucket.pieces) {
      layout.pieces_[piece.parameter].push_back(Placed(bucket, i, piece));
    }
    layout.used_count_ += bucket.used_count;
    layout.padding_count_ += bucket.padding_count();
    layout.parameter_bytes_ +=
        RoundUpToPage(bucket.count * ElementSize(bucket.type));
    if (!bucket.frozen) layout.gradient_count_ += bucket.count;
  }
  layout.parameters_ = std::move(parameters);
  return layout;
}

double ModelLayout::utilization() const {
  const size_t count = used_count_ + padding_count_;
  if (count == 0) return 1;
  return static_cast<double>(used_count_) / static_cast<double>(count);
}

PlacedPiece ModelLayout::PlaceOf(int parameter) const {
  const std::vector<PlacedPiece>& pieces = PiecesOf(parameter);
  if (pieces.empty()) {
    return {.bucket_offset = kNoOffset, .parameter_offset_bytes = kNoOffset};
  }
  PlacedPiece whole = pieces.front();
  whole.count = parameters_[parameter].count();
  return whole;
}

std::vector<ShardPiece> ModelLayout::ShardPieces(int bucket_number,
                                                 int rank) const {
  const LayoutBucket& bucket = buckets_[bucket_number];
  const size_t begin = bucket.ShardOffset(world_size(), rank);
  const size_t end = begin + bucket.ShardCount(world_size());
  auto piece = std::partition_point(
      bucket.pieces.begin(), bucket.pieces.end(), [&](const LayoutPiece& at) {
        return at.bucket_offset + at.count <= begin;
      });
  std::vector<ShardPiece> owned;
  for (; piece != bucket.pieces.end() && piece->bucket_offset < end; ++piece) {
    const size_t from = std::max(begin, piece->bucket_offset);
    const size_t to = std::min(end, piece->bucket_offset + piece->count);
    owned.push_back({.parameter = piece->parameter,
                     .parameter_offset =
                         piece->parameter_offset + from - piece->bucket_offset,
                     .count = to - from,
                     .bucket_offset = from,
                     .state_offset = bucket.frozen
                                         ? kNoOffset
                                         : bucket.state_offset + from - begin});
  }
  return owned;
}

LayoutBytes ModelLayout::Bytes(int rank, DataType gradient_type,
                               LayoutState state) const {
  LayoutBytes bytes;
  size_t reduced_count = 0;  // all that has a gradient
  size_t owned_count = 0;    // what this rank updates of it
  for (int i = 0; i < static_cast<int>(buckets_.size()); ++i) {
    const LayoutBucket& bucket = buckets_[i];
    bytes.parameters.used += bucket.used_count * ElementSize(bucket.type);
    if (bucket.frozen) continue;
    reduced_count += bucket.used_count;
    for (const ShardPiece& piece : ShardPieces(i, rank)) {
      owned_count += piece.count;
    }
  }
  bytes.parameters.padding = parameter_bytes_ - bytes.parameters.used;
  const size_t gradient_size = ElementSize(gradient_type);
  bytes.gradients = {reduced_count * gradient_size,
                     (gradient_count_ - reduced_count) * gradient_size};
  const auto state_bytes = [&](size_t arrays) -> ClassBytes {
    return {arrays * owned_count * sizeof(float),
            arrays * (state_count() - owned_count) * sizeof(float)};
  };
  bytes.master = state_bytes(state.master ? 1 : 0);
  bytes.moments = state_bytes(static_cast<size_t>(state.moments));
  return bytes;
}

}  // namespace rondo
