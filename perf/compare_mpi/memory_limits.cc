#include "perf/compare_mpi/memory_limits.h"

namespace rondo::perf {
namespace {

double TimeUs(double bytes, double gbs) {
  return gbs > 0 ? bytes / (gbs * 1e3) : 0;
}

}  // namespace

std::string_view StoreHintName(StoreHint hint) {
  return hint == StoreHint::kStream ? "streaming" : "cached";
}

double LeastTimeUs(const MemoryLimits& limits, Collective collective,
                   size_t total_bytes, int ranks, bool in_place) {
  const auto total = static_cast<double>(total_bytes);
  if (collective == Collective::kAllGather) {
    return TimeUs(total * (in_place ? ranks - 1 : ranks), limits.copy_gbs);
  }
  for (const ReduceLimit& limit : limits.reduce) {
    if (limit.sources == ranks) return TimeUs(total * (ranks + 1), limit.gbs);
  }
  return 0;
}

std::optional<double> LimitFraction(const MemoryLimits& limits,
                                    Collective collective, size_t total_bytes,
                                    int ranks, bool in_place, double time_us) {
  if (total_bytes < kLeastLimitedBytes || time_us <= 0) return std::nullopt;
  const double least_us =
      LeastTimeUs(limits, collective, total_bytes, ranks, in_place);
  if (least_us <= 0) return std::nullopt;
  return least_us / time_us;
}

}  // namespace rondo::perf
