#include "perf/bench/measure.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "perf/bench/gather.h"
#include "transports/base/clock.h"

namespace rondo::perf {
namespace {

Result<int64_t> WrongAfterOneCall(Communicator* communicator, bool in_place,
                                  uint64_t seed, Workload* workload) {
  workload->Fill(in_place, seed);
  RONDO_RETURN_IF_ERROR(communicator->Run(workload->Call(in_place)));
  return workload->CountWrong(in_place, seed);
}

}  // namespace

Result<std::vector<int64_t>> TimeIterations(
    Communicator* communicator, int warmup_iterations, int iterations,
    const std::function<Status()>& body) {
  for (int i = 0; i < warmup_iterations; ++i) RONDO_RETURN_IF_ERROR(body());
  std::vector<int64_t> durations_ns(iterations);
  RONDO_RETURN_IF_ERROR(communicator->Barrier());
  for (int64_t& duration_ns : durations_ns) {
    const int64_t start_ns = NowNs();
    RONDO_RETURN_IF_ERROR(body());
    duration_ns = NowNs() - start_ns;
  }
  return durations_ns;
}

Result<IterationTimes> SlowestRank(Communicator* communicator,
                                   const IterationTimes& mine) {
  RONDO_ASSIGN_OR_RETURN(const std::vector<IterationTimes> all,
                         GatherValues(communicator, mine));
  return *std::max_element(
      all.begin(), all.end(),
      [](const IterationTimes& a, const IterationTimes& b) {
        return a.mean_us < b.mean_us;
      });
}

Result<int64_t> SumOverRanks(Communicator* communicator, int64_t mine) {
  RONDO_ASSIGN_OR_RETURN(const std::vector<int64_t> all,
                         GatherValues(communicator, mine));
  return std::accumulate(all.begin(), all.end(), int64_t{0});
}

Result<Measurement> Measure(Communicator* communicator,
                            const MeasureOptions& options, bool in_place,
                            uint64_t seed, Workload* workload) {
  int64_t wrong = 0;
  const auto check = [&](uint64_t check_seed) -> Status {
    if (!options.check) return Status::Ok();
    options.on_phase("checking");
    RONDO_ASSIGN_OR_RETURN(
        const int64_t found,
        WrongAfterOneCall(communicator, in_place, check_seed, workload));
    wrong += found;
    return Status::Ok();
  };

  RONDO_RETURN_IF_ERROR(check(seed));
  options.on_phase("timing");
  if (!options.check) workload->Fill(in_place, seed);
  const CollectiveCall call = workload->Call(in_place);
  RONDO_ASSIGN_OR_RETURN(const std::vector<int64_t> durations_ns,
                         TimeIterations(communicator, options.warmup_iterations,
                                        options.iterations, [&] {
                                          return communicator->Run(call);
                                        }));
  RONDO_RETURN_IF_ERROR(check(seed + 1));

  Measurement measured;
  RONDO_ASSIGN_OR_RETURN(measured.times,
                         SlowestRank(communicator, Summarize(durations_ns)));
  if (options.check) {
    RONDO_ASSIGN_OR_RETURN(measured.wrong, SumOverRanks(communicator, wrong));
  }
  measured.alg_bw =
      AlgorithmBandwidth(workload->total_bytes(), measured.times.mean_us);
  measured.bus_bw =
      measured.alg_bw * BusFactor(call.collective, communicator->world_size());
  return measured;
}

}  // namespace rondo::perf
