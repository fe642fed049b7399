#include "perf/step/direct_collectives.h"

#include <algorithm>

#include "fmt/format.h"
#include "optimizer/kernels/tile.h"
#include "optimizer/kernels/tile_kernels.h"

namespace rondo::perf {
namespace {

// Keeps the mean of a shard.
class KeepMean : public Update {
 public:
  KeepMean(float scale, size_t shard_begin, float* shard)
      : scale_(scale), shard_begin_(shard_begin), shard_(shard) {}

  Result<UpdateOutcome> Apply(const UpdateRange& range,
                              std::span<const ConstElements> sources,
                              std::span<const MutableElements>) override {
    const MutableElements kept{DataType::kFloat32,
                               shard_ + (range.vector_offset - shard_begin_)};
    alignas(64) float sum[kTileElements];
    for (size_t at = 0; at < range.count; at += kTileElements) {
      const size_t count = std::min(kTileElements, range.count - at);
      SumGradientTile(sources, at, count, scale_, sum);
      StoreParameterTile(sum, count, {&kept, 1}, at, StoreHint::kStream);
    }
    FenceStreamedStores();
    return UpdateOutcome::kDone;
  }

 private:
  float scale_;
  size_t shard_begin_;
  float* shard_;
};

Status ReduceByUpdate(Communicator* communicator, DataType gradient_type,
                      const LayoutBucket& bucket, const void* gradients,
                      float* shard) {
  const int ranks = communicator->world_size();
  KeepMean keep(1.0f / static_cast<float>(ranks),
                bucket.ShardOffset(ranks, communicator->rank()), shard);
  CollectiveCall call;
  call.collective = Collective::kReduceUpdate;
  call.input = gradients;
  call.count = bucket.ShardCount(ranks);
  call.type = gradient_type;
  call.output_type = bucket.type;
  call.update = &keep;
  return communicator->Run(call);
}

Status GatherInPlace(Communicator* communicator, const LayoutBucket& bucket,
                     void* parameters) {
  const int ranks = communicator->world_size();
  const size_t own = bucket.ShardOffset(ranks, communicator->rank());
  return communicator->AllGather(
      static_cast<char*>(parameters) + own * ElementSize(bucket.type),
      parameters, bucket.ShardCount(ranks), bucket.type);
}

}  // namespace

StepCollectives RondoCollectives(Communicator* communicator,
                                 DataType gradient_type, ReduceWay way) {
  StepCollectives collectives;
  collectives.all_gather = [=](const LayoutBucket& bucket, void* parameters) {
    return GatherInPlace(communicator, bucket, parameters);
  };
  if (way == ReduceWay::kReduceScatter) {
    collectives.reduce_scatter = [=](const LayoutBucket& bucket,
                                     const void* gradients, float* shard) {
      return communicator->ReduceScatter(
          gradients, shard, bucket.ShardCount(communicator->world_size()),
          DataType::kFloat32, Reduction::kAverage);
    };
  } else {
    collectives.reduce_scatter = [=](const LayoutBucket& bucket,
                                     const void* gradients, float* shard) {
      return ReduceByUpdate(communicator, gradient_type, bucket, gradients,
                            shard);
    };
  }
  return collectives;
}

}  // namespace rondo::perf
