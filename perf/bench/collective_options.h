// What `rondo perf all_gather|reduce_scatter|broadcast` can be told: the flags
// of nccl-tests that have a meaning here, with the same letters.
//
// Thread-safety: values; parsing on one thread. Failure: bad values are refused
// while parsing, contradictions by FinishCollectiveOptions().
//
// Example:
//   CollectiveOptions options;
//   AddCollectiveOptions(app, Collective::kAllGather, &options);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "collectives/kernels/data_type.h"
#include "collectives/plan/plan.h"
#include "perf/bench/buffer.h"
#include "perf/bench/sweep.h"
#include "transports/base/status.h"

namespace rondo::perf {

struct CollectiveOptions {
  Collective collective = Collective::kAllGather;
  int local_ranks = 0;  // --ranks; 0: this process is one rank
  SweepOptions sweep;
  int iterations = 20;
  int warmup_iterations = 1;
  bool check = true;
  std::vector<DataType> types = {DataType::kFloat32};
  std::vector<Reduction> reductions = {Reduction::kSum};
  int root = 0;
  BufferKind buffers = BufferKind::kUser;
  bool percentiles = false;
  std::string json_path;
  std::string csv_path;
  std::string compare_path;  // an earlier JSON report; empty: none
  int tolerance_pct = 10;
};

// The options of one collective; `options` must outlive the app.
void AddCollectiveOptions(CLI::App* app, Collective collective,
                          CollectiveOptions* options);

// What only shows once all options are known. Where this process starts the
// ranks itself, the files are tried as well: before, not after, they measure.
Status FinishCollectiveOptions(CollectiveOptions* options);

}  // namespace rondo::perf
