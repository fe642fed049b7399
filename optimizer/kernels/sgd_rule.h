// SgdRule: gradient descent with momentum, hyper-parameters per group.
//
// As PyTorch's SGD (torch/optim/sgd.py), in fp32, every operation rounded on
// its own:
//
//   g = g + weight_decay * p
//   b = g                                       at step 1
//   b = b * momentum + (1 - dampening) * g      later
//   d = g + momentum * b with nesterov, else b; g if momentum is 0
//   p = p + -lr * d
//
// State: the buffer b if any group had momentum when the rule was made, else
// none. A group whose momentum becomes positive later starts from a buffer of
// zeros.
//
// Thread-safety: as UpdateRule; SetGroup() counts as a member that excludes
// others. Ownership: owns its hyper-parameters. Failure: Create() and
// SetGroup() refuse values with an error that names group, field, value and
// what is accepted, and change nothing then. Nesterov needs momentum and no
// dampening, as in PyTorch.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto rule, SgdRule::Create(
//       {{.learning_rate = 0.1, .momentum = 0.9}}));
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "optimizer/kernels/momentum_kernels.h"
#include "optimizer/kernels/update_rule.h"
#include "transports/base/status.h"

namespace rondo {

struct SgdHyper {
  double learning_rate = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
};

// Learning rate and decay at least 0, momentum and dampening in [0, 1).
Status CheckSgdHyper(const SgdHyper& hyper);

class SgdRule final : public UpdateRule {
 public:
  // One set of hyper-parameters for each group, at least one.
  static Result<std::unique_ptr<SgdRule>> Create(std::vector<SgdHyper> groups);

  // From the next BeginStep() on. Momentum is refused if the rule has no state.
  Status SetGroup(int group, const SgdHyper& hyper);

  const std::vector<SgdHyper>& groups() const { return groups_; }

  std::string_view name() const override { return "sgd"; }
  int state_count() const override { return state_count_; }
  int group_count() const override { return static_cast<int>(groups_.size()); }
  Status BeginStep(int64_t step) override;
  uint64_t Fingerprint() const override { return fingerprint_; }
  void ApplyTile(int group, const float* gradient, float* parameter,
                 float* const* states, size_t count) const override;

 private:
  explicit SgdRule(std::vector<SgdHyper> groups);

  std::vector<SgdHyper> groups_;
  int state_count_;
  std::vector<SgdConstants> constants_;  // by group, of the present step
  uint64_t fingerprint_;
};

}  // namespace rondo
