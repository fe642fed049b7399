// CompareCell: Rondo and the MPI library on one collective, size, place and
// kind of buffer, in turn and on the same buffers.
//
// Both are checked first: every element of what each of them delivers, against
// data whose result is known. The timed calls come after that. In place, each
// library gets the buffers by its own rule: NCCL's reduce-scatter leaves the
// result in the rank's own block, MPI's in the first one.
//
// Thread-safety: one thread. Failure: the first error of a call, or memory that
// cannot be had. Collective: every rank calls it with the same arguments.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(CellResult result,
//                          CompareCell(cell, 5, seed, communicator, &mpi,
//                                      &loops));
#pragma once

#include <cstdint>

#include "collectives/communicator.h"
#include "perf/compare_mpi/memory_loops.h"
#include "perf/compare_mpi/mpi_library.h"
#include "perf/compare_mpi/result.h"
#include "transports/base/status.h"

namespace rondo::perf {

// Uses the seeds from `seed` to `seed` + 2. `loops` take turns as well where
// the memory can be the limit; null: it is no limit.
Result<CellResult> CompareCell(const Cell& cell, int alternations,
                               uint64_t seed, Communicator* communicator,
                               MpiLibrary* mpi, MemoryLoops* loops);

}  // namespace rondo::perf
