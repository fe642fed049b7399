#include "collectives/planner/host_choice.h"

#include <algorithm>

namespace rondo {
namespace {

// What is measured lies in cache. Beyond it the slots' second copy costs more
// than what they save, on every machine that was tried.
constexpr size_t kMostStagedBytes = 512 << 10;

std::string WhyNot(HostWay way, const HostQuestion& question) {
  switch (way) {
    case HostWay::kMapped:
      return question.mapped ? "" : "the memory is not symmetric";
    case HostWay::kRead:
      if (question.mapped) return "the memory is mapped";
      return question.can_read ? "" : "process_vm_readv is not permitted";
    case HostWay::kStaged:
      return question.staging_fits ? "" : "too many ranks for the slots";
    case HostWay::kRing:
      break;
  }
  return "";
}

}  // namespace

LinearCost LineThrough(size_t bytes_a, double us_a, size_t bytes_b,
                       double us_b) {
  const double kib = (static_cast<double>(bytes_b) - bytes_a) / 1024;
  LinearCost cost;
  if (kib != 0) cost.us_per_kib = std::max(0.0, (us_b - us_a) / kib);
  cost.fixed_us = std::max(
      0.0, us_a - cost.us_per_kib * static_cast<double>(bytes_a) / 1024);
  return cost;
}

std::string_view HostWayName(HostWay way) {
  switch (way) {
    case HostWay::kMapped:
      return "direct, mapped";
    case HostWay::kRead:
      return "direct, process_vm_readv";
    case HostWay::kStaged:
      return "staged";
    case HostWay::kRing:
      break;
  }
  return "ring";
}

HostCosts TypicalHostCosts() {
  return {.mapped = {1.0, 0.1},
          .read = {2.5, 0.15},
          .staged = {0.6, 0.25},
          .ring = {20.0, 0.5}};
}

std::vector<PredictedWay> PredictHostWays(const HostCosts& costs,
                                          const HostQuestion& question) {
  const std::pair<HostWay, LinearCost> ways[] = {
      {HostWay::kMapped, costs.mapped},
      {HostWay::kRead, costs.read},
      {HostWay::kStaged, costs.staged},
      {HostWay::kRing, costs.ring}};
  std::vector<PredictedWay> predicted;
  for (const auto& [way, cost] : ways) {
    predicted.push_back(
        {way, cost.At(question.moved_bytes), WhyNot(way, question)});
  }
  std::stable_sort(predicted.begin(), predicted.end(),
                   [](const PredictedWay& a, const PredictedWay& b) {
                     if (a.why_not.empty() != b.why_not.empty()) {
                       return a.why_not.empty();
                     }
                     return a.us < b.us;
                   });
  return predicted;
}

bool PrefersStaging(const HostCosts& costs, const HostQuestion& question,
                    double margin) {
  if (!question.staging_fits) return false;
  if (!question.can_read) return true;
  if (question.moved_bytes > kMostStagedBytes) return false;
  return margin * costs.staged.At(question.moved_bytes) <=
         costs.read.At(question.moved_bytes);
}

}  // namespace rondo
