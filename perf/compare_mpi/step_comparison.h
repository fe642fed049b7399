// RunStepComparison: the optimizer step, ours and around an MPI library's
// collectives, in turns in the same processes.
//
// Thread-safety: one thread. Failure: the first error of a call, of memory or
// of a file. Collective: every rank calls it; rank 0 speaks.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(
//       const bool right,
//       RunStepComparison(options, words, environment, communicator, &mpi));
#pragma once

#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "perf/compare_mpi/mpi_library.h"
#include "perf/compare_mpi/options.h"
#include "transports/base/environment.h"
#include "transports/base/status.h"

namespace rondo::perf {

// `words`: the command as typed, program first. False when a result was wrong.
Result<bool> RunStepComparison(const CompareOptions& options,
                               const std::vector<std::string>& words,
                               const EnvironmentReader& environment,
                               Communicator* communicator, MpiLibrary* mpi);

}  // namespace rondo::perf
