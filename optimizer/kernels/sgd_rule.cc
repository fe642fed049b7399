#include "optimizer/kernels/sgd_rule.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "optimizer/kernels/hyper_checks.h"
#include "optimizer/kernels/rule_fingerprint.h"

namespace rondo {
namespace {

uint64_t FingerprintOf(const std::vector<SgdHyper>& groups, int64_t step) {
  RuleFingerprint fingerprint;
  fingerprint.Add(std::string_view("sgd")).Add(step).Add(groups.size());
  for (const SgdHyper& hyper : groups) {
    fingerprint.Add(hyper.learning_rate)
        .Add(hyper.momentum)
        .Add(hyper.dampening)
        .Add(hyper.weight_decay)
        .Add(hyper.nesterov);
  }
  return fingerprint.value();
}

bool HasMomentum(const std::vector<SgdHyper>& groups) {
  return std::any_of(groups.begin(), groups.end(),
                     [](const SgdHyper& hyper) { return hyper.momentum != 0; });
}

SgdConstants MakeConstants(const SgdHyper& hyper, int64_t step) {
  SgdConstants constants;
  constants.has_momentum = hyper.momentum != 0;
  constants.nesterov = hyper.nesterov;
  constants.decay = static_cast<float>(hyper.weight_decay);
  if (step > 1) {
    constants.keep = static_cast<float>(hyper.momentum);
    constants.enter = static_cast<float>(1.0 - hyper.dampening);
  }
  constants.momentum = static_cast<float>(hyper.momentum);
  constants.negative_rate = static_cast<float>(-hyper.learning_rate);
  return constants;
}

}  // namespace

Status CheckSgdHyper(const SgdHyper& hyper) {
  RONDO_RETURN_IF_ERROR(CheckNotNegative("learning_rate", hyper.learning_rate));
  RONDO_RETURN_IF_ERROR(CheckFraction("momentum", hyper.momentum));
  RONDO_RETURN_IF_ERROR(CheckFraction("dampening", hyper.dampening));
  RONDO_RETURN_IF_ERROR(CheckNotNegative("weight_decay", hyper.weight_decay));
  if (hyper.nesterov && (hyper.momentum == 0 || hyper.dampening != 0)) {
    return InvalidArgument(
        fmt::format("nesterov is true with momentum {} and dampening {}: "
                    "momentum above 0 and dampening 0 are accepted",
                    hyper.momentum, hyper.dampening));
  }
  return Status::Ok();
}

SgdRule::SgdRule(std::vector<SgdHyper> groups)
    : groups_(std::move(groups)),
      state_count_(HasMomentum(groups_) ? 1 : 0),
      constants_(groups_.size()),
      fingerprint_(FingerprintOf(groups_, 0)) {}

Result<std::unique_ptr<SgdRule>> SgdRule::Create(std::vector<SgdHyper> groups) {
  RONDO_RETURN_IF_ERROR(CheckGroups(groups, CheckSgdHyper));
  return std::unique_ptr<SgdRule>(new SgdRule(std::move(groups)));
}

Status SgdRule::SetGroup(int group, const SgdHyper& hyper) {
  RONDO_RETURN_IF_ERROR(CheckGroup(group, group_count()));
  RONDO_RETURN_IF_ERROR(CheckSgdHyper(hyper).WithContext(GroupContext(group)));
  if (state_count_ == 0 && hyper.momentum != 0) {
    return InvalidArgument(fmt::format(
        "group {}: momentum is {}: only 0 is accepted, as no group had "
        "momentum when the rule was made and so there is no buffer",
        group, hyper.momentum));
  }
  groups_[static_cast<size_t>(group)] = hyper;
  return Status::Ok();
}

Status SgdRule::BeginStep(int64_t step) {
  RONDO_RETURN_IF_ERROR(CheckStep(step));
  for (size_t group = 0; group < groups_.size(); ++group) {
    constants_[group] = MakeConstants(groups_[group], step);
  }
  fingerprint_ = FingerprintOf(groups_, step);
  return Status::Ok();
}

void SgdRule::ApplyTile(int group, const float* gradient, float* parameter,
                        float* const* states, size_t count) const {
  SgdTile(constants_[static_cast<size_t>(group)], gradient, parameter, states,
          count);
}

}  // namespace rondo
