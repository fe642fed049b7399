// Measure: one collective, one size, one placement: checked, timed, checked.
//
// The verified calls stand before and after the timed ones and outside of them:
// filling and comparing would disturb the caches, and a result that is right at
// first and wrong after many calls is a defect too. Times start after a
// barrier; the reported ones are those of the rank with the longest mean.
//
// Thread-safety: as the communicator. Failure: the first error of a call.
// Collective: every rank calls it with the same arguments.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(
//       Measurement measured,
//       Measure(communicator, {.iterations = 20}, false, seed, &workload));
#pragma once

#include <cstdint>
#include <functional>

#include "collectives/communicator.h"
#include "perf/bench/result.h"
#include "perf/bench/workload.h"
#include "transports/base/status.h"

namespace rondo::perf {

struct MeasureOptions {
  int warmup_iterations = 1;
  int iterations = 20;
  bool check = true;
  // Told what begins: "checking", "timing". Not called while timing.
  std::function<void(const char* phase)> on_phase = [](const char*) {};
};

// Uses the seeds `seed` and `seed` + 1.
Result<Measurement> Measure(Communicator* communicator,
                            const MeasureOptions& options, bool in_place,
                            uint64_t seed, Workload* workload);

// Runs `body` so often after a barrier; the durations in nanoseconds.
Result<std::vector<int64_t>> TimeIterations(
    Communicator* communicator, int warmup_iterations, int iterations,
    const std::function<Status()>& body);

// The statistics of the rank with the longest mean.
Result<IterationTimes> SlowestRank(Communicator* communicator,
                                   const IterationTimes& mine);

// Sum of `mine` over ranks.
Result<int64_t> SumOverRanks(Communicator* communicator, int64_t mine);

}  // namespace rondo::perf
