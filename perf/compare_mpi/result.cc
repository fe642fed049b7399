#include "perf/compare_mpi/result.h"

#include "perf/bench/statistics.h"

namespace rondo::perf {

std::string_view PlaceName(bool in_place) {
  return in_place ? "in_place" : "out_of_place";
}

int64_t TotalWrong(const ComparisonRun& run) {
  int64_t wrong = 0;
  for (const CellResult& result : run.results) wrong += result.wrong;
  return wrong;
}

double BusBandwidth(const CellResult& result, int ranks, double time_us) {
  return AlgorithmBandwidth(result.bytes, time_us) *
         BusFactor(result.cell.collective, ranks);
}

}  // namespace rondo::perf
