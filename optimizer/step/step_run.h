// StepRun: does the steps of a sharded optimizer.
//
// It knows which calls a step is made of: one per bucket where nothing has to
// be known of all gradients first; else a pass that measures their sums (and
// keeps them, if that is cheaper than making them again), the exchange of the
// norm, and a pass that updates and gathers. The separate
// schedule is reduce-scatter, update and all-gather one after the other.
//
// Thread-safety: one thread at a time. Ownership: owns layout, rule and state.
// Failure: that of a call, with the bucket; the state is undefined then.
//
// Example:
//   StepRun run(std::move(parts));
//   RONDO_RETURN_IF_ERROR(run.Run(gradients, parameters, options, &result));
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "collectives/communicator.h"
#include "optimizer/kernels/update_rule.h"
#include "optimizer/layout/model_layout.h"
#include "optimizer/step/bucket_update.h"
#include "optimizer/step/shard_state.h"
#include "optimizer/step/step_result.h"
#include "transports/base/clock.h"
#include "transports/base/status.h"

namespace rondo {

struct StepParts {
  Communicator* communicator = nullptr;
  ModelLayout layout;
  std::unique_ptr<UpdateRule> rule;
  ShardState state;
  DataType gradient_type = DataType::kFloat32;
  double divisor = 1;  // of sums over ranks
  bool fused = true;
};

class StepRun {
 public:
  explicit StepRun(StepParts parts);

  // The rule has begun the step. Fills in all of `result` but the step.
  Status Run(const void* gradients, void* parameters,
             const StepOptions& options, StepResult* result);
  // `values`: all elements of the parameter.
  Status SetParameter(int parameter, std::span<const float> values,
                      void* parameters);

  const Communicator& communicator() const { return *parts_.communicator; }
  const ModelLayout& layout() const { return parts_.layout; }
  double divisor() const { return parts_.divisor; }
  UpdateRule& rule() { return *parts_.rule; }
  ShardState& state() { return parts_.state; }
  const ShardState& state() const { return parts_.state; }

 private:
  // One call per bucket that is not frozen.
  Status ForEachBucket(Collective collective, const UpdateSetting& setting);
  // Sums of gradients into the state, and what they measure.
  Status Reduce(const UpdateSetting& setting, const StepOptions& options,
                StepResult* result);
  Status Measure(const ExactSum& squares, const StepOptions& options,
                 StepResult* result);
  // Whether the first of two passes keeps the sums of gradients for the second,
  // which else makes them again.
  bool KeepsSums() const;
  Status UpdateAndGather(UpdateSetting setting, StepResult* result);
  Status UpdateOwn(const UpdateSetting& setting);
  Status GatherParameters();

  StepParts parts_;
  std::vector<BucketUpdate> updates_;  // by bucket; frozen ones are unused
  const void* gradients_ = nullptr;    // of the step
  void* parameters_ = nullptr;
  uint64_t fingerprint_ = 0;
};

}  // namespace rondo
