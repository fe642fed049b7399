// MeasureMemoryLimits: the copy and reduce loops on every rank at once.
//
// Each rank works on private memory, far larger than the caches; the time is
// that of the slowest rank, the median of several passes, and the faster kind
// of stores counts.
//
// Thread-safety: one thread. Failure: memory that cannot be had, MPI's errors.
// Collective: every rank calls it.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(MemoryLimits limits, MeasureMemoryLimits(&mpi));
#pragma once

#include "perf/compare_mpi/memory_limits.h"
#include "perf/compare_mpi/mpi_library.h"
#include "transports/base/status.h"

namespace rondo::perf {

Result<MemoryLimits> MeasureMemoryLimits(MpiLibrary* mpi);

}  // namespace rondo::perf
