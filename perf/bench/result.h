// What a benchmark run found: the rows, and the facts about the run that every
// report (table, JSON, CSV) shows.
//
// Thread-safety: values.
//
// Example:
//   BenchmarkRun run = ...;
//   run.rows.push_back(row);
//   fmt::print("{}", RowText(row, /*percentiles=*/false));
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "perf/bench/buffer.h"
#include "perf/bench/statistics.h"
#include "perf/bench/sweep.h"

namespace rondo::perf {

struct Measurement {
  IterationTimes times;  // of the rank with the longest mean
  double alg_bw = 0;     // GB/s
  double bus_bw = 0;
  std::optional<int64_t> wrong;  // empty: not checked
};

struct ResultRow {
  size_t size = 0;   // total bytes
  size_t count = 0;  // elements per rank; of the whole for a broadcast
  std::string type;
  std::string redop;  // "none" without a reduction
  int root = -1;      // -1 without a root
  Measurement out_of_place;
  Measurement in_place;
};

struct RankFacts {
  int rank = 0;
  int host = 0;
  int64_t pid = 0;
  std::string hostname;
};

struct BenchmarkRun {
  std::string collective;  // "all_gather"
  std::string start_time;  // "2031-01-31 23:59:59", local time
  std::string end_time;
  std::vector<std::string> arguments;    // as typed, program first
  std::vector<std::string> environment;  // "RONDO_X=..." and "UCX_X=..."
  std::string transport;
  std::vector<RankFacts> ranks;
  int hosts = 1;
  SweepOptions sweep;
  int iterations = 0;
  int warmup_iterations = 0;
  bool check = true;
  BufferKind buffers = BufferKind::kUser;
  std::vector<ResultRow> rows;
};

// Wrong elements of all rows together.
int64_t TotalWrong(const BenchmarkRun& run);
// Mean of every bus bandwidth, in and out of place, as nccl-tests prints it.
double AverageBusBandwidth(const BenchmarkRun& run);

}  // namespace rondo::perf
