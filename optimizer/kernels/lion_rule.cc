#include "optimizer/kernels/lion_rule.h"

#include <utility>

#include "optimizer/kernels/hyper_checks.h"
#include "optimizer/kernels/rule_fingerprint.h"

namespace rondo {
namespace {

uint64_t FingerprintOf(const std::vector<LionHyper>& groups, int64_t step) {
  RuleFingerprint fingerprint;
  fingerprint.Add(std::string_view("lion")).Add(step).Add(groups.size());
  for (const LionHyper& hyper : groups) {
    fingerprint.Add(hyper.learning_rate)
        .Add(hyper.beta1)
        .Add(hyper.beta2)
        .Add(hyper.weight_decay);
  }
  return fingerprint.value();
}

LionConstants MakeConstants(const LionHyper& hyper) {
  LionConstants constants;
  constants.beta1 = static_cast<float>(hyper.beta1);
  constants.one_minus_beta1 = static_cast<float>(1.0 - hyper.beta1);
  constants.beta2 = static_cast<float>(hyper.beta2);
  constants.one_minus_beta2 = static_cast<float>(1.0 - hyper.beta2);
  constants.decay = static_cast<float>(hyper.weight_decay);
  constants.negative_rate = static_cast<float>(-hyper.learning_rate);
  return constants;
}

}  // namespace

Status CheckLionHyper(const LionHyper& hyper) {
  RONDO_RETURN_IF_ERROR(CheckNotNegative("learning_rate", hyper.learning_rate));
  RONDO_RETURN_IF_ERROR(CheckFraction("beta1", hyper.beta1));
  RONDO_RETURN_IF_ERROR(CheckFraction("beta2", hyper.beta2));
  return CheckNotNegative("weight_decay", hyper.weight_decay);
}

LionRule::LionRule(std::vector<LionHyper> groups)
    : groups_(std::move(groups)),
      constants_(groups_.size()),
      fingerprint_(FingerprintOf(groups_, 0)) {}

Result<std::unique_ptr<LionRule>> LionRule::Create(
    std::vector<LionHyper> groups) {
  RONDO_RETURN_IF_ERROR(CheckGroups(groups, CheckLionHyper));
  return std::unique_ptr<LionRule>(new LionRule(std::move(groups)));
}

Status LionRule::SetGroup(int group, const LionHyper& hyper) {
  RONDO_RETURN_IF_ERROR(CheckGroup(group, group_count()));
  RONDO_RETURN_IF_ERROR(CheckLionHyper(hyper).WithContext(GroupContext(group)));
  groups_[static_cast<size_t>(group)] = hyper;
  return Status::Ok();
}

Status LionRule::BeginStep(int64_t step) {
  RONDO_RETURN_IF_ERROR(CheckStep(step));
  for (size_t group = 0; group < groups_.size(); ++group) {
    constants_[group] = MakeConstants(groups_[group]);
  }
  fingerprint_ = FingerprintOf(groups_, step);
  return Status::Ok();
}

void LionRule::ApplyTile(int group, const float* gradient, float* parameter,
                         float* const* states, size_t count) const {
  LionTile(constants_[static_cast<size_t>(group)], gradient, parameter, states,
           count);
}

}  // namespace rondo
