#include "perf/compare_mpi/memory_limits.h"

namespace rondo::perf {
std::string_view StoreHintName(StoreHint hint) {
  return hint == StoreHint::kStream ? "streaming" : "cached";
}

double LimitingGbs(const MemoryLimits& limits, Collective collective,
                   int ranks) {
  if (collective == Collective::kAllGather) return limits.copy_gbs;
  for (const ReduceLimit& limit : limits.reduce) {
    if (limit.sources == ranks) return limit.gbs;
  }
  return 0;
}

double LeastTimeUs(double gbs, Collective collective, size_t total_bytes,
                   int ranks, bool in_place) {
  if (gbs <= 0) return 0;
  const bool gather = collective == Collective::kAllGather;
  const int times = !gather ? ranks + 1 : in_place ? ranks - 1 : ranks;
  return static_cast<double>(total_bytes) * times / (gbs * 1e3);
}

std::optional<double> LimitFraction(double gbs, Collective collective,
                                    size_t total_bytes, int ranks,
                                    bool in_place, double time_us) {
  if (!IsMemoryBound(total_bytes) || time_us <= 0) return std::nullopt;
  const double least_us =
      LeastTimeUs(gbs, collective, total_bytes, ranks, in_place);
  if (least_us <= 0) return std::nullopt;
  return least_us / time_us;
}

}  // namespace rondo::perf
