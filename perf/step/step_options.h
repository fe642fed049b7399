// What `rondo perf step` and the step of a comparison with MPI can be told.
//
// Thread-safety: values; parsing on one thread. Failure: bad values are refused
// while parsing, contradictions by FinishStepOptions().
//
// Example:
//   StepBenchmarkOptions options;
//   AddStepOptions(app, &options);
#pragma once

#include <cstdint>
#include <string>

#include "CLI/CLI.hpp"
#include "collectives/kernels/data_type.h"
#include "optimizer/layout/layout_parameter.h"
#include "perf/bench/buffer.h"
#include "transports/base/status.h"

namespace rondo::perf {

struct StepBenchmarkOptions {
  int64_t parameters = int64_t{1} << 20;
  std::string model;  // "gpt2"; empty: one parameter of `parameters` elements
  DataType gradient_type = DataType::kFloat32;
  DataType parameter_type = DataType::kFloat32;
  BufferKind buffers = BufferKind::kSymmetric;
  int64_t bucket_count_target =
      static_cast<int64_t>(LayoutOptions().bucket_count_target);
  int rounds = 7;
  int warmup_rounds = 1;
  bool check = true;
};

// `options` must outlive the app.
void AddStepOptions(CLI::App* app, StepBenchmarkOptions* options);

// What only shows once all options are known.
Status FinishStepOptions(const StepBenchmarkOptions& options);

}  // namespace rondo::perf
