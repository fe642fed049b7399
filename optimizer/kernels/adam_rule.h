// AdamRule: Adam and AdamW, with hyper-parameters per group.
//
// States: m, the first moment, and v, the second. With t the step, c1 = 1 -
// beta1^t and c2 = 1 - beta2^t, the order of operations in fp32 is, in mode
//
// kTorchCompat, that of PyTorch's unfused CPU path (torch/optim/adam.py):
//
//   p = p * (1 - lr * weight_decay)                 decoupled decay (AdamW)
//   g = g + weight_decay * p                        otherwise (L2, Adam)
//   m = lerp(m, g, 1 - beta1)
//   v = v * beta2 + ((1 - beta2) * g) * g
//   p = p + (-lr / c1 * m) / (sqrt(v) / sqrt(c2) + epsilon)
//
// kAccurate, with decay inside the update, as Apex and llm.c have it:
//
//   g = g + weight_decay * p                        L2 only
//   m = lerp(m, g, 1 - beta1)
//   v = lerp(v, g * g, 1 - beta2)
//   p = p + -lr * ((m / c1) / (sqrt(v / c2) + epsilon) + weight_decay * p)
//
// Multiplying p by a rounded 1 - lr * weight_decay errs to the same side at
// every step, which adds up: after 10,000 steps the first form is 20 to 30
// times farther from exact arithmetic than the second. Choose kTorchCompat to
// reproduce PyTorch, whose results it meets within a few units in the last
// place (PyTorch contracts some products, and its square root is not always
// correctly rounded); kAccurate for anything new.
//
// Constants, 1 - beta and the powers among them, are computed in double and
// rounded once. Divisions by c1 and c2 are products with rounded inverses.
// Results are the same bits on every vector unit (adam_kernel.h).
//
// Thread-safety: as UpdateRule; SetGroup() counts as a member that excludes
// others. Ownership: owns its hyper-parameters. Failure: Create() and
// SetGroup() refuse values with an error that names group, field, value and
// what is accepted, and change nothing then. amsgrad is refused: it needs a
// third state and is not built.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto rule, AdamRule::Create(
//       {{.learning_rate = 3e-4}, {.learning_rate = 3e-4,
//                                  .weight_decay = 0}}));
//   RONDO_RETURN_IF_ERROR(rule->BeginStep(1));
//   rule->ApplyTile(0, gradient, parameter, states, count);
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "optimizer/kernels/adam_kernel.h"
#include "optimizer/kernels/update_rule.h"
#include "transports/base/status.h"

namespace rondo {

enum class AdamMode { kTorchCompat, kAccurate };

struct AdamHyper {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  bool decoupled = true;  // false: decay is added to the gradient
  bool amsgrad = false;   // only false is accepted
  AdamMode mode = AdamMode::kTorchCompat;
};

// "torch_compat" or "accurate".
std::string_view AdamModeName(AdamMode mode);

// Learning rate and decay at least 0, betas in [0, 1), epsilon above 0 (0 would
// divide 0 by 0 where gradients are 0), all of them as floats too.
Status CheckAdamHyper(const AdamHyper& hyper);

// `step` counts from 1.
AdamConstants MakeAdamConstants(const AdamHyper& hyper, int64_t step);

class AdamRule final : public UpdateRule {
 public:
  // One set of hyper-parameters for each group, at least one.
  static Result<std::unique_ptr<AdamRule>> Create(
      std::vector<AdamHyper> groups);

  // From the next BeginStep() on.
  Status SetGroup(int group, const AdamHyper& hyper);

  // What was last set.
  const std::vector<AdamHyper>& groups() const { return groups_; }

  // Of the present step; all-default before the first.
  const AdamConstants& constants(int group) const {
    return constants_[static_cast<size_t>(group)];
  }

  std::string_view name() const override { return "adam"; }
  int state_count() const override { return 2; }
  int group_count() const override { return static_cast<int>(groups_.size()); }
  Status BeginStep(int64_t step) override;
  uint64_t Fingerprint() const override { return fingerprint_; }
  void ApplyTile(int group, const float* gradient, float* parameter,
                 float* const* states, size_t count) const override;

 private:
  explicit AdamRule(std::vector<AdamHyper> groups);

  std::vector<AdamHyper> groups_;
  std::vector<AdamConstants> constants_;  // by group, of the present step
  uint64_t fingerprint_;
};

}  // namespace rondo
