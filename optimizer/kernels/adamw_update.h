// AdamWUpdate: AdamW on one rank's shard, as the functor of a sharded step.
//
// It owns this rank's optimizer state, and nothing of the other ranks': the
// fp32 master copy of the shard's parameters and the two moments, 12 bytes an
// element. Gradients arrive as any number of arrays of any floating-point type;
// they are summed in fp32 in the order given and multiplied by a scale (1 /
// world size for an average). The new parameters are rounded once from the
// master to each destination's type, to nearest even.
//
// One pass: a range is taken in tiles that stay in the first-level cache, so
// each gradient, state and parameter goes through memory once. The bits of an
// element do not depend on how ranges or tiles were cut.
//
// Thread-safety: one thread at a time. Ownership: owns its state and layout;
// may be moved only between steps. Failure: an error that names parameter,
// offset and count is returned before anything of that range was written.
//
// Example (what ShardedAdamW does):
//   RONDO_ASSIGN_OR_RETURN(
//       AdamWUpdate update,
//       AdamWUpdate::Create(layout, rank, hyper, 1.0 / world_size, initial));
//   update.BeginStep(1);
//   communicator->Run({.collective = Collective::kShardedStep, ...,
//                      .update = &update});
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/engine/update.h"
#include "optimizer/kernels/adamw.h"
#include "optimizer/layout/shard_layout.h"
#include "transports/base/status.h"

namespace rondo {

class AdamWUpdate : public Update {
 public:
  // `initial`: the whole vector of layout.total_count() elements; this rank's
  // shard of it is copied. Moments start at 0.
  static Result<AdamWUpdate> Create(ShardLayout layout, int rank,
                                    const AdamWHyper& hyper,
                                    double gradient_scale,
                                    std::span<const float> initial);

  // Makes Apply() compute step number `step` (from 1) from now on.
  Status BeginStep(int64_t step);
  // From the next BeginStep() on.
  Status SetHyper(const AdamWHyper& hyper);

  Result<UpdateOutcome> Apply(
      const UpdateRange& range, std::span<const ConstElements> sources,
      std::span<const MutableElements> destinations) override;

  // Elements updated since BeginStep(): the whole shard after a good step.
  size_t applied_count() const { return applied_count_; }

  const ShardLayout& layout() const { return layout_; }
  const AdamWHyper& hyper() const { return hyper_; }
  // This rank's shard: layout().shard_counts()[rank] elements each.
  const std::vector<float>& master() const { return master_; }
  const std::vector<float>& first_moment() const { return first_moment_; }
  const std::vector<float>& second_moment() const { return second_moment_; }
  size_t scratch_bytes() const;

 private:
  AdamWUpdate() = default;
  Status CheckRange(const UpdateRange& range) const;
  void SumGradients(std::span<const ConstElements> sources, size_t at,
                    size_t count);
  void StepTile(const AdamWConstants& constants, size_t shard_at, size_t count);

  ShardLayout layout_;
  int rank_ = 0;
  AdamWHyper hyper_;
  float gradient_scale_ = 1;
  int64_t step_ = 0;  // 0: BeginStep() was never called
  AdamWConstants with_decay_;
  AdamWConstants without_decay_;
  size_t applied_count_ = 0;

  std::vector<float> master_;
  std::vector<float> first_moment_;
  std::vector<float> second_moment_;
  std::vector<float> gradient_tile_;
  std::vector<float> widened_tile_;
};

}  // namespace rondo
