// MemoryLoops: the copy and reduce loops whose speed is the memory's limit, on
// every rank at once.
//
// Each rank works on private memory, far larger than the caches; the time is
// that of the slowest rank, and the faster kind of stores counts. A machine
// that others use as well changes its speed by the minute, so the loops run not
// only at the start but also in turn with what is held against them.
//
// Thread-safety: one thread. Ownership: owns its buffers; refers to the
// library, which must outlive it. Failure: memory that cannot be had, MPI's
// errors. Collective: every rank calls the same functions.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(MemoryLoops loops, MemoryLoops::Create(&mpi));
//   RONDO_ASSIGN_OR_RETURN(double gbs, loops.Sample(Collective::kAllGather));
#pragma once

#include <vector>

#include "perf/bench/buffer.h"
#include "perf/compare_mpi/memory_limits.h"
#include "perf/compare_mpi/mpi_library.h"
#include "transports/base/status.h"

namespace rondo::perf {

class MemoryLoops {
 public:
  // Chooses the stores of each loop by measuring both.
  static Result<MemoryLoops> Create(MpiLibrary* mpi);

  // GB/s, as MemoryLimits counts them, of the loop that limits the collective.
  Result<double> Sample(Collective collective);

  // Medians over all samples so far.
  MemoryLimits limits() const;

 private:
  struct Loop {
    int sources = 1;  // 1: the copy loop
    StoreHint hint = StoreHint::kCached;
    std::vector<double> gbs;
  };

  explicit MemoryLoops(MpiLibrary* mpi) : mpi_(mpi) {}
  Result<double> Run(int sources, StoreHint hint);
  Status Add(int sources);

  MpiLibrary* mpi_;
  Buffer from_;
  Buffer to_;
  std::vector<Loop> loops_;
};

}  // namespace rondo::perf
