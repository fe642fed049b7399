// Statistics of iteration times, and the bandwidths that nccl-tests defines.
//
// Thread-safety: pure functions. Failure: none; no durations give zeros.
//
// Example:
//   IterationTimes times = Summarize({12000, 11000, 15000});  // nanoseconds
//   double alg_bw = AlgorithmBandwidth(bytes, times.mean_us);
//   double bus_bw = alg_bw * BusFactor(Collective::kAllGather, ranks);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/plan/plan.h"

namespace rondo::perf {

// Percentiles are nearest-rank: the smallest sample that at least so many
// percent of the samples do not exceed. The deviation is the population's.
struct IterationTimes {
  double mean_us = 0;
  double min_us = 0;
  double max_us = 0;
  double p50_us = 0;
  double p95_us = 0;
  double p99_us = 0;
  double stdev_us = 0;
  double cv_pct = 0;  // stdev in percent of the mean
};

IterationTimes Summarize(std::vector<int64_t> durations_ns);

// GB/s (10^9 bytes); 0 when no time passed.
double AlgorithmBandwidth(size_t total_bytes, double time_us);

// Bus bandwidth is algorithm bandwidth times this: the share of the total that
// must cross a link of each rank, so that the figure can be held against the
// hardware's whatever the number of ranks.
double BusFactor(Collective collective, int ranks);

}  // namespace rondo::perf
