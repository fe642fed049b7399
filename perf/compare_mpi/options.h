// What a comparison program can be told.
//
// Thread-safety: values; parsing on one thread. Failure: bad values are refused
// while parsing, contradictions by FinishCompareOptions().
//
// Example:
//   CompareOptions options;
//   AddCompareOptions(&app, &options);
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "collectives/plan/plan.h"
#include "perf/bench/buffer.h"
#include "perf/bench/sweep.h"
#include "perf/compare_mpi/mpi_flavor.h"
#include "perf/step/step_options.h"
#include "transports/base/status.h"

namespace rondo::perf {

// The ratio below which a cell is measured again, with more alternations.
inline constexpr double kRerunBelow = 0.9;

struct CompareOptions {
  int ranks = 0;  // 0: not given
  SweepOptions sweep = {.min_bytes = 8, .max_bytes = int64_t{256} << 20};
  std::vector<Collective> collectives = {Collective::kAllGather,
                                         Collective::kReduceScatter};
  std::vector<BufferKind> buffers = {BufferKind::kUser, BufferKind::kSymmetric};
  std::vector<bool> in_place = {false, true};
  int alternations = 5;
  // Where the ratio is below kRerunBelow; 0: not again.
  int rerun_alternations = 15;
  std::string json_path;
  std::string svg_path;
  std::string launcher;  // of --mpirun; empty: as MpiFlavor says
  bool as_rank = false;  // started by the launcher, in place of its variables
  bool step = false;     // the optimizer step is compared, not the collectives
  StepBenchmarkOptions step_options;
  std::string senseless_with_step;  // an option that would be ignored there
};

// `options` must outlive the app.
void AddCompareOptions(CLI::App* app, CompareOptions* options);

// For the end of --help.
std::string CompareExamples(MpiFlavor flavor);

// What only shows once all options are known.
Status FinishCompareOptions(const CompareOptions& options);

}  // namespace rondo::perf
