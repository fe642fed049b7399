// LionRule: evolved sign momentum, hyper-parameters per group.
//
// Chen et al., Symbolic Discovery of Optimization Algorithms (2023), with
// decoupled decay; in fp32, every operation rounded on its own:
//
//   s = sign(beta1 * m + (1 - beta1) * g)       of 0 it is 0, of NaN NaN
//   p = p + -lr * (s + weight_decay * p)
//   m = beta2 * m + (1 - beta2) * g
//
// State: the momentum m. Where beta1 * m and (1 - beta1) * g cancel almost, a
// last bit decides the sign, and so a step of 2 lr: compare long runs with
// other implementations by their loss, not by their elements.
//
// Thread-safety: as UpdateRule; SetGroup() counts as a member that excludes
// others. Ownership: owns its hyper-parameters. Failure: Create() and
// SetGroup() refuse values with an error that names group, field, value and
// what is accepted, and change nothing then.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto rule, LionRule::Create(
//       {{.learning_rate = 1e-4, .weight_decay = 0.1}}));
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "optimizer/kernels/momentum_kernels.h"
#include "optimizer/kernels/update_rule.h"
#include "transports/base/status.h"

namespace rondo {

struct LionHyper {
  double learning_rate = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;
};

// Learning rate and decay at least 0, betas in [0, 1).
Status CheckLionHyper(const LionHyper& hyper);

class LionRule final : public UpdateRule {
 public:
  // One set of hyper-parameters for each group, at least one.
  static Result<std::unique_ptr<LionRule>> Create(
      std::vector<LionHyper> groups);

  // From the next BeginStep() on.
  Status SetGroup(int group, const LionHyper& hyper);

  const std::vector<LionHyper>& groups() const { return groups_; }

  std::string_view name() const override { return "lion"; }
  int state_count() const override { return 1; }
  int group_count() const override { return static_cast<int>(groups_.size()); }
  Status BeginStep(int64_t step) override;
  uint64_t Fingerprint() const override { return fingerprint_; }
  void ApplyTile(int group, const float* gradient, float* parameter,
                 float* const* states, size_t count) const override;

 private:
  explicit LionRule(std::vector<LionHyper> groups);

  std::vector<LionHyper> groups_;
  std::vector<LionConstants> constants_;  // by group, of the present step
  uint64_t fingerprint_;
};

}  // namespace rondo
