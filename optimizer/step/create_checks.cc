#include "optimizer/step/create_checks.h"

#include <string>

#include "fmt/format.h"
#include "optimizer/agreement/agreement.h"

namespace rondo {
namespace {

constexpr const char* kSubject = "options of ShardedOptimizer";

Status CheckSettings(Communicator* communicator, const OptimizerClaim& claim) {
  Agreement agreement(kSubject);
  agreement.Refuse(claim.own);
  const bool good = claim.own.ok();
  agreement.AddInteger("the number of parameters",
                       good ? claim.layout->parameters().size() : 0);
  agreement.AddInteger("bucket_count_target",
                       good ? claim.layout->options().bucket_count_target : 0);
  agreement.AddInteger("gradient_type", static_cast<int>(claim.gradient_type));
  agreement.AddInteger("average_gradients", claim.average_gradients);
  agreement.AddInteger("schedule", claim.schedule);
  agreement.AddHash("the name of the rule",
                    good ? FingerprintText(claim.rule->name()) : 0);
  agreement.AddInteger("the rule's groups",
                       good ? claim.rule->group_count() : 0);
  agreement.AddInteger("the rule's states",
                       good ? claim.rule->state_count() : 0);
  return agreement.Check(communicator);
}

// Once the number of parameters is known to agree. Names the first that
// differs, in a second exchange that is only made when one does.
Status CheckLayouts(Communicator* communicator, const ModelLayout& layout) {
  Agreement whole(kSubject);
  whole.AddHash("the layout", layout.Hash());
  const Status status = whole.Check(communicator);
  if (status.code() != Code::kMismatch) return status;
  Agreement each(kSubject);
  for (size_t i = 0; i < layout.parameters().size(); ++i) {
    const LayoutParameter& parameter = layout.parameters()[i];
    each.AddHash(
        fmt::format("parameter {} (on rank {}: '{}', {} elements, {}, group "
                    "{}, unit {}{})",
                    i, communicator->rank(), parameter.name, parameter.count(),
                    DataTypeName(parameter.type), parameter.group,
                    parameter.unit, parameter.frozen ? ", frozen" : ""),
        layout.ParameterHash(static_cast<int>(i)));
  }
  const Status detail = each.Check(communicator);
  return detail.ok() ? status : detail;
}

// Of what parameters cover: padding is nobody's.
uint64_t HashValues(const ModelLayout& layout, int parameter,
                    const void* parameters) {
  const LayoutParameter& p = layout.parameters()[parameter];
  if (p.count() == 0) return 0;
  const char* begin = static_cast<const char*>(parameters) +
                      layout.PlaceOf(parameter).parameter_offset_bytes;
  return Fingerprint(begin, p.count() * ElementSize(p.type));
}

// Each rank keeps its shard of its own copy: a different seed would mix
// models.
Status CheckValues(Communicator* communicator, const ModelLayout& layout,
                   const void* parameters) {
  Agreement all("initial values given to ShardedOptimizer");
  Agreement each("initial values given to ShardedOptimizer");
  uint64_t hash = 0;
  for (size_t i = 0; i < layout.parameters().size(); ++i) {
    const uint64_t one = HashValues(layout, static_cast<int>(i), parameters);
    hash = Fingerprint(&one, sizeof(one), hash);
    each.AddHash(
        fmt::format("parameter {} ('{}')", i, layout.parameters()[i].name),
        one);
  }
  all.AddHash("the parameters", hash);
  const Status status = all.Check(communicator);
  if (status.code() != Code::kMismatch) return status;
  const Status detail = each.Check(communicator);
  return detail.ok() ? status : detail;
}

}  // namespace

Status CheckOwnClaim(const OptimizerClaim& claim, int rank) {
  RONDO_RETURN_IF_ERROR(claim.own);
  if (!IsFloatingPoint(claim.gradient_type)) {
    return InvalidArgument(fmt::format(
        "gradient_type is {}: half, bfloat16, float and double are accepted",
        DataTypeName(claim.gradient_type)));
  }
  if (claim.rule == nullptr) return InvalidArgument("the update rule is null");
  const int states = claim.rule->state_count();
  if (states < 0 || states > kMaxRuleStates) {
    return InvalidArgument(
        fmt::format("rule '{}' wants {} states: 0 to {} are accepted",
                    claim.rule->name(), states, kMaxRuleStates));
  }
  const int groups = claim.rule->group_count();
  for (const LayoutParameter& parameter : claim.layout->parameters()) {
    if (parameter.frozen || parameter.group < groups) continue;
    return InvalidArgument(fmt::format(
        "parameter '{}' is of group {}: rule '{}' has groups 0 to {}",
        parameter.name, parameter.group, claim.rule->name(), groups - 1));
  }
  if (claim.parameters == nullptr && claim.layout->parameter_bytes() > 0) {
    return InvalidArgument(
        fmt::format("initial parameters are null on rank {}: {} bytes are "
                    "needed",
                    rank, claim.layout->parameter_bytes()));
  }
  return Status::Ok();
}

Status CheckOptimizersAgree(Communicator* communicator,
                            const OptimizerClaim& claim) {
  RONDO_RETURN_IF_ERROR(CheckSettings(communicator, claim));
  RONDO_RETURN_IF_ERROR(CheckLayouts(communicator, *claim.layout));
  return CheckValues(communicator, *claim.layout, claim.parameters);
}

}  // namespace rondo
