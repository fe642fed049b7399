// What `rondo perf step` found, as text and as JSON.
//
// Thread-safety: values and pure functions. Failure: none.
//
// Example:
//   fmt::print("{}", StepText(run));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "perf/bench/result.h"
#include "perf/bench/statistics.h"

namespace rondo::perf {

struct StepRun {
  std::string start_time;
  std::string end_time;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string transport;
  std::vector<RankFacts> ranks;
  int64_t parameters = 0;
  std::string gradient_type;
  std::string parameter_type;
  int64_t gradient_bytes = 0;   // of one element
  int64_t parameter_bytes = 0;  // of one element
  int64_t state_bytes = 0;      // of the optimizer, on rank 0
  int iterations = 0;
  int warmup_iterations = 0;
  IterationTimes times;  // of the rank with the longest mean
  std::optional<int64_t> wrong;
};

// Million parameters updated per second.
double MillionParametersPerSecond(const StepRun& run);
// What each rank must send at least: (ranks - 1) / ranks of the gradients and
// as much of the parameters.
int64_t AlgorithmBytesPerRank(const StepRun& run);

std::string StepText(const StepRun& run);
std::string StepJson(const StepRun& run);

}  // namespace rondo::perf
