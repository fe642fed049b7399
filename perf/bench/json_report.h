// The benchmark's JSON, with nccl-tests' keys.
//
//   {"version", "rondo_version", "start_time", "args": [..], "env": [..],
//    "transport", "devices": [{"rank", "pid", "hostname", "host"}],
//    "config": {"collective", "buffers", "ranks", "hosts", "minimum_bytes",
//               "maximum_bytes", "step_factor" | "step_bytes", "warmup_iters",
//               "iterations", "validation"},
//    "results": [{"size", "count", "type", "redop", "root",
//                 "out_of_place": {"time", "alg_bw", "bus_bw", "nwrong",
//                                  "per_iter": {"min_us", "max_us", "avg_us",
//                                               "p50_us", "p95_us", "p99_us",
//                                               "stdev_us", "cv_pct"}},
//                 "in_place": {..}}],
//    "out_of_bounds": {"count", "okay"},
//    "average_bus_bandwidth": {"bandwidth"}, "end_time"}
//
// Times are microseconds, bandwidths GB/s; nwrong is null when unchecked.
//
// Thread-safety: pure. Failure: none.
//
// Example:  RONDO_RETURN_IF_ERROR(WriteTextFile(path, JsonReport(run)));
#pragma once

#include <string>

#include "nlohmann/json.hpp"
#include "perf/bench/result.h"

namespace rondo::perf {

// Of this layout; changes only when a key changes its meaning.
inline constexpr int kJsonReportVersion = 1;

// Indented text that ends in a newline.
std::string JsonReport(const BenchmarkRun& run);

// The "per_iter" object, which other reports show as well.
nlohmann::ordered_json IterationTimesToJson(const IterationTimes& times);

}  // namespace rondo::perf
