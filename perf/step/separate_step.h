// SeparateStep: an optimizer step of separate passes, to compare with.
//
// What people write who have no fused step: a reduce-scatter of the gradients
// into an fp32 shard, with clipping a pass over the shard that measures it and
// an exchange of the norm, one pass of Adam that also writes the shard's
// parameters in their own type, and an all-gather of these. Each collective is
// a function, so that any library's can be tried; the passes in between are the
// same for all of them, as fast as we know how.
//
// The state is that of a ShardedOptimizer, whose layout, rule and step number
// are used as well.
//
// Thread-safety: one thread. Ownership: refers to communicator, optimizer and
// shard, which must outlive it. Failure: the collectives' errors.
//
// Example:
//   SeparateStep step(communicator, optimizer.get(), DataType::kFloat32,
//                     RondoCollectives(...), shard);
//   RONDO_RETURN_IF_ERROR(step.Step(gradients, parameters, 0).status());
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "collectives/communicator.h"
#include "optimizer/layout/layout_bucket.h"
#include "optimizer/sharded_optimizer.h"
#include "transports/base/status.h"

namespace rondo::perf {

// On one bucket; the pointers are where it begins.
struct StepCollectives {
  // The sum over ranks of this rank's shard of the gradients, times what
  // `scale` is short of the mean.
  std::function<Status(const LayoutBucket& bucket, const void* gradients,
                       float* shard)>
      reduce_scatter;
  // Every rank's shard of `parameters`, in place.
  std::function<Status(const LayoutBucket& bucket, void* parameters)>
      all_gather;
  // What the update multiplies the result of reduce_scatter with.
  float scale = 1;
};

class SeparateStep {
 public:
  // `shard`: for the summed gradients, as long as the optimizer's state;
  // several steps may share it, one after the other.
  SeparateStep(Communicator* communicator, ShardedOptimizer* optimizer,
               DataType gradient_type, StepCollectives collectives,
               float* shard)
      : communicator_(communicator),
        optimizer_(optimizer),
        gradient_type_(gradient_type),
        collectives_(std::move(collectives)),
        shard_(shard) {}

  // `max_norm` 0: no clipping, and no pass for the norm. Returns the norm of
  // the mean, 0 where nobody measured.
  Result<double> Step(const void* gradients, void* parameters, double max_norm);

 private:
  Result<double> Norm();
  void Update(float scale, void* parameters);
  void UpdatePiece(const LayoutBucket& bucket, const ShardPiece& piece,
                   float scale, void* parameters);

  Communicator* communicator_;
  ShardedOptimizer* optimizer_;
  DataType gradient_type_;
  StepCollectives collectives_;
  float* shard_;
};

}  // namespace rondo::perf
