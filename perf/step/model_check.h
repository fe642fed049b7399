// ModelCheck: StepCheck for a whole model, wherever its layout puts it.
//
// An element is known by its place in the flat buffer of gradients. Small
// models are compared whole; of large ones every n-th tile is, other tiles on
// each rank, since arithmetic in double takes a hundred times as long as the
// step. Comparing with the bits of another way of stepping is always whole.
//
// Thread-safety: one thread. Ownership: refers to layout and communicator,
// which must outlive it. Failure: the communicator's errors.
//
// Example:
//   ModelCheck check(&layout, communicator, options, seed);
//   check.FillGradients(gradients);
//   check.Reset(optimizer.get(), parameters);
//   ... kCheckedSteps steps, step t on gradients + GradientOffset(t) ...
//   int64_t wrong = check.CountOutside(coefficients, parameters);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/communicator.h"
#include "optimizer/layout/model_layout.h"
#include "optimizer/sharded_optimizer.h"
#include "perf/step/step_check.h"
#include "perf/step/step_options.h"

namespace rondo::perf {

inline constexpr int kCheckedSteps = 3;

// Elements that the buffer of gradients has beyond the layout's.
inline constexpr size_t kSpareGradients = (kCheckedSteps - 1) * kStepShift;

class ModelCheck {
 public:
  ModelCheck(const ModelLayout* layout, Communicator* communicator,
             const StepBenchmarkOptions& options, uint64_t seed);

  void FillGradients(void* gradients) const;
  // In bytes: where step `step` (from 1) finds its gradients.
  size_t GradientOffset(int step) const;
  // Parameters and the optimizer's state as before the first step.
  void Reset(ShardedOptimizer* optimizer, void* parameters) const;

  // Of the averaged gradients of step `step`, in double. Collective.
  Result<double> Norm(int step) const;
  double norm_tolerance() const { return NormTolerance(check_); }

  // After steps with these coefficients: how many parameters are off, and how
  // many are looked at. Tiles with the bits of `known`, which were compared
  // before, need no second look; null: there are none.
  int64_t CountOutside(const std::vector<double>& coefficients,
                       const void* parameters,
                       const void* known = nullptr) const;
  int64_t checked_count() const;

  // Parameters whose bits differ; padding does not count.
  int64_t CountDifferent(const void* a, const void* b) const;

 private:
  bool Looks(size_t index) const {
    return (index / kStepShift + rank_) % stride_ == 0;
  }

  const ModelLayout* layout_;
  Communicator* communicator_;
  StepCheck check_;
  std::vector<AdamHyper> hypers_;
  size_t rank_;
  size_t stride_;  // one of so many tiles is compared
};

}  // namespace rondo::perf
