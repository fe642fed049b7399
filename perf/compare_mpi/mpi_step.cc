#include "perf/compare_mpi/mpi_step.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "collectives/kernels/convert.h"
#include "fmt/format.h"
#include "perf/step/private_memory.h"

namespace rondo::perf {
namespace {

Result<size_t> LargestBucket(const ModelLayout& layout) {
  size_t largest = 0;
  for (const LayoutBucket& bucket : layout.buckets()) {
    largest = std::max(largest, bucket.count);
  }
  constexpr size_t kMost = std::numeric_limits<int>::max();
  if (largest <= kMost) return largest;
  return InvalidArgument(
      fmt::format("a bucket of {} elements is refused: MPI counts at most {}; "
                  "choose a smaller --bucket",
                  largest, kMost));
}

// The gradients in fp32: themselves, or widened into memory of one bucket.
class WidenedGradients {
 public:
  static Result<std::shared_ptr<WidenedGradients>> Create(DataType type,
                                                          size_t count) {
    auto gradients = std::make_shared<WidenedGradients>();
    gradients->type_ = type;
    if (type == DataType::kFloat32) return gradients;
    RONDO_ASSIGN_OR_RETURN(gradients->memory_,
                           PrivateMemory::Allocate(count * sizeof(float)));
    return gradients;
  }

  Result<const float*> Widen(const void* gradients, size_t count) {
    if (type_ == DataType::kFloat32) {
      return static_cast<const float*>(gradients);
    }
    RONDO_RETURN_IF_ERROR(ConvertElements(type_, gradients, DataType::kFloat32,
                                          memory_.data(), count));
    return reinterpret_cast<const float*>(memory_.data());
  }

 private:
  DataType type_ = DataType::kFloat32;
  PrivateMemory memory_;
};

}  // namespace

Result<StepCollectives> MpiCollectives(MpiLibrary* mpi,
                                       const ModelLayout& layout,
                                       DataType gradient_type,
                                       MpiReduce reduce) {
  RONDO_ASSIGN_OR_RETURN(const size_t largest, LargestBucket(layout));
  RONDO_ASSIGN_OR_RETURN(const std::shared_ptr<WidenedGradients> widened,
                         WidenedGradients::Create(gradient_type, largest));
  StepCollectives collectives;
  collectives.scale = 1.0f / static_cast<float>(mpi->size());
  collectives.reduce_scatter = [=](const LayoutBucket& bucket,
                                   const void* gradients,
                                   float* shard) -> Status {
    RONDO_ASSIGN_OR_RETURN(const float* const input,
                           widened->Widen(gradients, bucket.count));
    const size_t count = bucket.ShardCount(mpi->size());
    return reduce == MpiReduce::kReduceScatter
               ? mpi->ReduceScatter(input, shard, count)
               : mpi->ReduceScatterBlock(input, shard, count);
  };
  collectives.all_gather = [=](const LayoutBucket& bucket, void* parameters) {
    return mpi->AllGatherInPlace(parameters, ElementSize(bucket.type),
                                 bucket.ShardCount(mpi->size()));
  };
  return collectives;
}

}  // namespace rondo::perf
