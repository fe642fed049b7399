// UpdateRule: what an optimizer does to each element; derive to build your own.
//
// The fused step sums a tile of the gradient over all ranks, hands it with the
// tile's fp32 master parameters and states to a rule, and writes the rounded
// new parameters to every rank. Everything but the rule (layout, communication,
// clipping, low precision, checkpoints) is the same for all optimizers.
//
// State: a rule has 0 to kMaxRuleStates fp32 arrays beside the fp32 master
// parameters, each as long as the shard. They belong to the step, start as
// zeros, and are saved and restored with the parameters. A rule itself keeps
// no other memory of earlier steps.
//
// Groups: hyper-parameters may differ by parameter (decay for weights, none for
// biases). A tile belongs to one group. Rules usually offer
// SetGroup(group, hyper), which takes effect at the next BeginStep().
//
// The contract of ApplyTile(): an element's result depends on its own values,
// the group and the step, and on nothing else; above all not on its place
// in the tile, on `count`, or on alignment. Shards and tiles are cut in other
// places when the number of ranks changes; only so the bits stay the same. A
// plain loop keeps it if the compiler may not contract a * b + c into one fused
// operation in some of the iterations only: compile with -ffp-contract=off, and
// without -ffast-math, or write std::fma yourself where you want it.
//
// Thread-safety: ApplyTile() may be called by several threads at once, for
// different tiles, while no other member runs. Ownership: none taken of the
// arrays. Failure: BeginStep() refuses what it cannot do; ApplyTile() cannot
// fail and is called only after BeginStep() succeeded.
//
// Example: p -= rate * sign(g), the shortest optimizer.
//
//   class SignRule final : public rondo::UpdateRule {
//    public:
//     std::string_view name() const override { return "sign"; }
//     int state_count() const override { return 0; }
//     int group_count() const override { return 1; }
//     rondo::Status BeginStep(int64_t) override { return rondo::Status::Ok(); }
//     uint64_t Fingerprint() const override {
//       return rondo::RuleFingerprint().Add(name()).Add(kRate).value();
//     }
//     void ApplyTile(int, const float* gradient, float* parameter,
//                    float* const*, size_t count) const override {
//       for (size_t i = 0; i < count; ++i) {
//         if (gradient[i] != 0) parameter[i] -= copysignf(kRate, gradient[i]);
//       }
//     }
//
//    private:
//     static constexpr float kRate = 0.001f;
//   };
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "optimizer/kernels/rule_fingerprint.h"
#include "transports/base/status.h"

namespace rondo {

inline constexpr int kMaxRuleStates = 4;

class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  // Short and lower-case, such as "adam"; saved in checkpoints.
  virtual std::string_view name() const = 0;

  // How many fp32 arrays it keeps beside the master parameters: 0 to
  // kMaxRuleStates, the same at all times.
  virtual int state_count() const = 0;

  // At least 1, the same at all times.
  virtual int group_count() const = 0;

  // Computes what all tiles of this step share, with the hyper-parameters set
  // since the last one. `step` counts from 1; a step that is skipped (a
  // gradient was not finite) does not count, so the number comes again.
  virtual Status BeginStep(int64_t step) = 0;

  // Of everything all ranks must agree on at this step: the rule, its mode, the
  // hyper-parameters of all groups as BeginStep() took them, the step. Ranks
  // compare it, so that a learning rate that differs is found, not trained on.
  virtual uint64_t Fingerprint() const = 0;

  // Updates parameter[0 .. count) and states[0 .. state_count())[0 .. count) in
  // place. `count` is 1 to 1024. The arrays do not overlap; they are aligned to
  // floats, and mostly, not always, to 64 bytes.
  virtual void ApplyTile(int group, const float* gradient, float* parameter,
                         float* const* states, size_t count) const = 0;
};

}  // namespace rondo
