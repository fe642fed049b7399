#include "perf/bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rondo::perf {
namespace {

double Percentile(const std::vector<int64_t>& sorted, size_t percent) {
  const size_t rank = (sorted.size() * percent + 99) / 100;  // rounded up
  return static_cast<double>(sorted[rank - 1]) / 1e3;
}

double StandardDeviation(const std::vector<int64_t>& durations_ns,
                         double mean_ns) {
  double squares = 0;
  for (int64_t duration : durations_ns) {
    const double distance = static_cast<double>(duration) - mean_ns;
    squares += distance * distance;
  }
  return std::sqrt(squares / static_cast<double>(durations_ns.size()));
}

}  // namespace

IterationTimes Summarize(std::vector<int64_t> durations_ns) {
  IterationTimes times;
  if (durations_ns.empty()) return times;
  std::sort(durations_ns.begin(), durations_ns.end());
  const double mean_ns =
      std::accumulate(durations_ns.begin(), durations_ns.end(), 0.0) /
      static_cast<double>(durations_ns.size());
  times.mean_us = mean_ns / 1e3;
  times.min_us = static_cast<double>(durations_ns.front()) / 1e3;
  times.max_us = static_cast<double>(durations_ns.back()) / 1e3;
  times.p50_us = Percentile(durations_ns, 50);
  times.p95_us = Percentile(durations_ns, 95);
  times.p99_us = Percentile(durations_ns, 99);
  times.stdev_us = StandardDeviation(durations_ns, mean_ns) / 1e3;
  times.cv_pct = mean_ns > 0 ? 100 * times.stdev_us / times.mean_us : 0;
  return times;
}

double AlgorithmBandwidth(size_t total_bytes, double time_us) {
  if (time_us <= 0) return 0;
  return static_cast<double>(total_bytes) / (time_us * 1e3);
}

double BusFactor(Collective collective, int ranks) {
  switch (collective) {
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kReduceUpdate:
    case Collective::kUpdateGather:
      return static_cast<double>(ranks - 1) / ranks;
    case Collective::kShardedStep:  // both of the above
      return 2.0 * (ranks - 1) / ranks;
    case Collective::kBroadcast:
    case Collective::kBarrier:
      return 1;
  }
  return 1;
}

}  // namespace rondo::perf
