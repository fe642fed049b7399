// What a comparison with an MPI library found: one result for each collective,
// size, place and kind of buffer, and the facts that every report shows.
//
// Thread-safety: values.
//
// Example:
//   ComparisonRun run = ...;
//   fmt::print("{}{}", PreambleText(run), HeaderText());
//   for (const CellResult& result : run.results) fmt::print(RowText(result));
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/plan/plan.h"
#include "perf/bench/buffer.h"
#include "perf/compare_mpi/memory_limits.h"

namespace rondo::perf {

// One thing to compare.
struct Cell {
  Collective collective = Collective::kAllGather;
  size_t count = 1;  // fp32 elements per rank
  bool in_place = false;
  BufferKind buffers = BufferKind::kUser;
};

struct CellResult {
  Cell cell;
  size_t bytes = 0;  // what an all-gather receives, a reduce-scatter sends
  // Medians over the alternations, of mean times on the worst rank.
  double rondo_us = 0;
  double mpi_us = 0;
  std::string mpi_call;  // the fastest of the calls that do the same
  std::optional<double> limit_fraction;  // empty where it means nothing
  int alternations = 0;
  bool rerun = false;  // measured again, with more alternations
  int64_t wrong = 0;   // wrong elements of Rondo and of the MPI library

  double ratio() const { return rondo_us > 0 ? mpi_us / rondo_us : 0; }
};

struct ComparisonRun {
  std::string program;  // "vs_openmpi"
  std::string start_time;
  std::string end_time;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string mpi_name;  // "Open MPI"
  std::string mpi_version;
  std::string ucx_version;
  std::string transport;
  std::string cpu_model;
  int cores = 0;
  int ranks = 0;
  MemoryLimits limits;
  std::vector<CellResult> results;
};

std::string_view PlaceName(bool in_place);  // "in_place" or "out_of_place"

int64_t TotalWrong(const ComparisonRun& run);

// GB/s by nccl-tests' definition.
double BusBandwidth(const CellResult& result, int ranks, double time_us);

}  // namespace rondo::perf
