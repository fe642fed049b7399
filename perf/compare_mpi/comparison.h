// Comparison: all cells of one run, the second look at the slow ones, and the
// reports.
//
// Thread-safety: one thread. Ownership: refers to the options, the communicator
// and the library, which must outlive it. Failure: the first error of a call,
// of memory or of a file. Collective: every rank calls it; rank 0 speaks.
//
// Example:
//   Comparison comparison(options, communicator, &mpi);
//   RONDO_RETURN_IF_ERROR(comparison.Run(words, environment));
//   return comparison.right();
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "perf/cli/progress_line.h"
#include "perf/compare_mpi/memory_loops.h"
#include "perf/compare_mpi/mpi_library.h"
#include "perf/compare_mpi/options.h"
#include "perf/compare_mpi/result.h"
#include "transports/base/environment.h"
#include "transports/base/status.h"

namespace rondo::perf {

// Every cell that the options ask for: sizes innermost.
std::vector<Cell> CellsOf(const CompareOptions& options, int ranks);

class Comparison {
 public:
  Comparison(const CompareOptions& options, Communicator* communicator,
             MpiLibrary* mpi);

  Status Run(const std::vector<std::string>& words,
             const EnvironmentReader& environment);
  // No element was wrong.
  bool right() const { return TotalWrong(run_) == 0; }

 private:
  Status CheckFiles() const;
  Status Describe(const std::vector<std::string>& words,
                  const EnvironmentReader& environment);
  Status MeasureAll();
  Status MeasureSlowOnesAgain();
  Result<CellResult> MeasureCell(const Cell& cell, int alternations);
  Status WriteReports() const;
  void Print(const std::string& text);

  const CompareOptions& options_;
  Communicator* communicator_;
  MpiLibrary* mpi_;
  bool speaks_;
  ProgressLine progress_;
  uint64_t seed_ = 0;
  std::optional<MemoryLoops> loops_;
  ComparisonRun run_;
};

}  // namespace rondo::perf
