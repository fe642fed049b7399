#include "optimizer/kernels/adam_rule.h"

#include <cmath>
#include <utility>

#include "fmt/format.h"
#include "optimizer/kernels/hyper_checks.h"
#include "optimizer/kernels/rule_fingerprint.h"

namespace rondo {
namespace {

uint64_t FingerprintOf(std::string_view name,
                       const std::vector<AdamHyper>& groups, int64_t step) {
  RuleFingerprint fingerprint;
  fingerprint.Add(name).Add(step).Add(groups.size());
  for (const AdamHyper& hyper : groups) {
    fingerprint.Add(hyper.learning_rate)
        .Add(hyper.beta1)
        .Add(hyper.beta2)
        .Add(hyper.epsilon)
        .Add(hyper.weight_decay)
        .Add(hyper.decoupled)
        .Add(AdamModeName(hyper.mode));
  }
  return fingerprint.value();
}

}  // namespace

std::string_view AdamModeName(AdamMode mode) {
  return mode == AdamMode::kAccurate ? "accurate" : "torch_compat";
}

Status CheckAdamHyper(const AdamHyper& hyper) {
  RONDO_RETURN_IF_ERROR(CheckNotNegative("learning_rate", hyper.learning_rate));
  RONDO_RETURN_IF_ERROR(CheckFraction("beta1", hyper.beta1));
  RONDO_RETURN_IF_ERROR(CheckFraction("beta2", hyper.beta2));
  RONDO_RETURN_IF_ERROR(CheckPositive("epsilon", hyper.epsilon));
  RONDO_RETURN_IF_ERROR(CheckNotNegative("weight_decay", hyper.weight_decay));
  if (hyper.amsgrad) {
    return Status(Code::kNotSupported,
                  "amsgrad is true: only false is accepted, as the largest v "
                  "so far is not kept");
  }
  if (hyper.mode != AdamMode::kTorchCompat &&
      hyper.mode != AdamMode::kAccurate) {
    return InvalidArgument(
        fmt::format("mode is {}: kTorchCompat (0) or kAccurate (1) is accepted",
                    static_cast<int>(hyper.mode)));
  }
  return Status::Ok();
}

AdamConstants MakeAdamConstants(const AdamHyper& hyper, int64_t step) {
  const auto steps = static_cast<double>(step);
  const double correction1 = 1.0 - std::pow(hyper.beta1, steps);
  const double correction2 = 1.0 - std::pow(hyper.beta2, steps);
  AdamConstants constants;
  constants.accurate = hyper.mode == AdamMode::kAccurate;
  if (!hyper.decoupled) {
    constants.l2_decay = static_cast<float>(hyper.weight_decay);
  } else if (constants.accurate) {
    constants.decay = static_cast<float>(hyper.weight_decay);
  } else {
    constants.keep =
        static_cast<float>(1.0 - hyper.learning_rate * hyper.weight_decay);
  }
  constants.one_minus_beta1 = static_cast<float>(1.0 - hyper.beta1);
  constants.one_minus_beta2 = static_cast<float>(1.0 - hyper.beta2);
  constants.beta2 = static_cast<float>(hyper.beta2);
  constants.epsilon = static_cast<float>(hyper.epsilon);
  constants.inverse_root_correction2 =
      static_cast<float>(1.0 / std::sqrt(correction2));
  constants.inverse_correction1 = static_cast<float>(1.0 / correction1);
  constants.inverse_correction2 = static_cast<float>(1.0 / correction2);
  constants.negative_rate = static_cast<float>(
      constants.accurate ? -hyper.learning_rate
                         : -hyper.learning_rate / correction1);
  return constants;
}

AdamRule::AdamRule(std::vector<AdamHyper> groups)
    : groups_(std::move(groups)),
      constants_(groups_.size()),
      fingerprint_(FingerprintOf(name(), groups_, 0)) {}

Result<std::unique_ptr<AdamRule>> AdamRule::Create(
    std::vector<AdamHyper> groups) {
  RONDO_RETURN_IF_ERROR(CheckGroups(groups, CheckAdamHyper));
  return std::unique_ptr<AdamRule>(new AdamRule(std::move(groups)));
}

Status AdamRule::SetGroup(int group, const AdamHyper& hyper) {
  RONDO_RETURN_IF_ERROR(CheckGroup(group, group_count()));
  RONDO_RETURN_IF_ERROR(CheckAdamHyper(hyper).WithContext(GroupContext(group)));
  groups_[static_cast<size_t>(group)] = hyper;
  return Status::Ok();
}

Status AdamRule::BeginStep(int64_t step) {
  RONDO_RETURN_IF_ERROR(CheckStep(step));
  for (size_t group = 0; group < groups_.size(); ++group) {
    constants_[group] = MakeAdamConstants(groups_[group], step);
  }
  fingerprint_ = FingerprintOf(name(), groups_, step);
  return Status::Ok();
}

void AdamRule::ApplyTile(int group, const float* gradient, float* parameter,
                         float* const* states, size_t count) const {
  AdamTile(constants_[static_cast<size_t>(group)], gradient, parameter, states,
           count);
}

}  // namespace rondo
