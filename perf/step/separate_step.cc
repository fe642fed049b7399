#include "perf/step/separate_step.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "collectives/kernels/data_type.h"
#include "optimizer/kernels/tile.h"
#include "optimizer/kernels/tile_kernels.h"

namespace rondo::perf {
namespace {

// From here on a rank's parameters do not stay in its cache until the
// all-gather reads them.
constexpr size_t kStreamedBytes = size_t{4} << 20;

constexpr double kNormEpsilon = 1e-6;  // as the optimizer's

}  // namespace

Result<double> SeparateStep::Step(const void* gradients, void* parameters,
                                  double max_norm) {
  const int64_t number = optimizer_->steps() + 1;
  RONDO_RETURN_IF_ERROR(optimizer_->rule().BeginStep(number));
  const std::vector<LayoutBucket>& buckets = optimizer_->layout().buckets();
  for (const LayoutBucket& bucket : buckets) {
    RONDO_RETURN_IF_ERROR(collectives_.reduce_scatter(
        bucket,
        static_cast<const char*>(gradients) +
            bucket.gradient_offset * ElementSize(gradient_type_),
        shard_ + bucket.state_offset));
  }
  double norm = 0;
  double scale = collectives_.scale;
  if (max_norm > 0) {
    RONDO_ASSIGN_OR_RETURN(norm, Norm());
    scale *= std::min(1.0, max_norm / (norm + kNormEpsilon));
  }
  Update(static_cast<float>(scale), parameters);
  for (const LayoutBucket& bucket : buckets) {
    RONDO_RETURN_IF_ERROR(collectives_.all_gather(
        bucket,
        static_cast<char*>(parameters) + bucket.parameter_offset_bytes));
  }
  optimizer_->SetSteps(number);
  return norm;
}

Result<double> SeparateStep::Norm() {
  const ModelLayout& layout = optimizer_->layout();
  double mine = 0;
  for (size_t b = 0; b < layout.buckets().size(); ++b) {
    for (const ShardPiece& piece :
         layout.ShardPieces(static_cast<int>(b), communicator_->rank())) {
      const float* const gradient = shard_ + piece.state_offset;
      for (size_t at = 0; at < piece.count; at += kTileElements) {
        const size_t count = std::min(kTileElements, piece.count - at);
        mine += TileSquaredSum(gradient + at, count).sum;
      }
    }
  }
  std::vector<double> all(layout.world_size());
  RONDO_RETURN_IF_ERROR(
      communicator_->AllGather(&mine, all.data(), 1, DataType::kFloat64));
  double squares = 0;
  for (double part : all) squares += part;
  return std::sqrt(squares) * collectives_.scale;
}

void SeparateStep::Update(float scale, void* parameters) {
  const ModelLayout& layout = optimizer_->layout();
  for (size_t b = 0; b < layout.buckets().size(); ++b) {
    for (const ShardPiece& piece :
         layout.ShardPieces(static_cast<int>(b), communicator_->rank())) {
      UpdatePiece(layout.buckets()[b], piece, scale, parameters);
    }
  }
  FenceStreamedStores();
}

void SeparateStep::UpdatePiece(const LayoutBucket& bucket,
                               const ShardPiece& piece, float scale,
                               void* parameters) {
  const UpdateRule& rule = optimizer_->rule();
  const int group = optimizer_->layout().parameters()[piece.parameter].group;
  const MutableElements own{bucket.type,
                            static_cast<char*>(parameters) +
                                bucket.parameter_offset_bytes +
                                piece.bucket_offset * ElementSize(bucket.type)};
  const StoreHint hint =
      piece.count * ElementSize(bucket.type) >= kStreamedBytes
          ? StoreHint::kStream
          : StoreHint::kCached;
  float* const master = optimizer_->master().data() + piece.state_offset;
  alignas(64) float scaled[kTileElements];
  for (size_t at = 0; at < piece.count; at += kTileElements) {
    const size_t count = std::min(kTileElements, piece.count - at);
    const float* gradient = shard_ + piece.state_offset + at;
    if (scale != 1) {
      const ConstElements source{DataType::kFloat32, gradient};
      SumGradientTile({&source, 1}, 0, count, scale, scaled);
      gradient = scaled;
    }
    float* states[kMaxRuleStates] = {};
    for (int i = 0; i < rule.state_count(); ++i) {
      states[i] = optimizer_->state(i).data() + piece.state_offset + at;
    }
    rule.ApplyTile(group, gradient, master + at, states, count);
    StoreParameterTile(master + at, count, {&own, 1}, at, hint);
  }
}

}  // namespace rondo::perf
