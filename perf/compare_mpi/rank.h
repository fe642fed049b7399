// RunComparisonRank: one rank's part of a comparison, from MPI_Init to the
// report.
//
// Thread-safety: one thread, once in a process. Failure: an ExitStatus; the
// reason goes to stderr, and a rank that fails ends all of them, since MPI's
// waits have no deadline.
//
// Example:
//   return RunComparisonRank(options, words, environment);
#pragma once

#include <string>
#include <vector>

#include "perf/compare_mpi/options.h"
#include "transports/base/environment.h"

namespace rondo::perf {

// `words`: the command as typed, program first.
int RunComparisonRank(const CompareOptions& options,
                      const std::vector<std::string>& words,
                      const EnvironmentReader& environment);

}  // namespace rondo::perf
