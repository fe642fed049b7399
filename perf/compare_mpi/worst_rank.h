// WorstRankUs: the time of back-to-back calls, on the rank that needs longest.
//
// Thread-safety: one thread. Failure: the first error of a call; the other
// ranks may wait for this one then, so it must end them (MpiLibrary::Abort).
// Collective: every rank calls it with the same number of calls.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(double us, WorstRankUs(&mpi, 100, [&] {
//     return communicator->Run(call);
//   }));
#pragma once

#include <functional>
#include <vector>

#include "perf/compare_mpi/mpi_library.h"
#include "transports/base/status.h"

namespace rondo::perf {

// Mean microseconds of one call, the largest of all ranks. The calls start
// after a barrier.
Result<double> WorstRankUs(MpiLibrary* mpi, int calls,
                           const std::function<Status()>& call);

// How many calls make a measurement of some ten milliseconds, at least 2: found
// by trying, and the same on all ranks.
Result<int> CallsPerMeasurement(MpiLibrary* mpi,
                                const std::function<Status()>& call);

// Of an odd or even number of values; 0 of none.
double Median(std::vector<double> values);

}  // namespace rondo::perf
