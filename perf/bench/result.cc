#include "perf/bench/result.h"

namespace rondo::perf {

int64_t TotalWrong(const BenchmarkRun& run) {
  int64_t wrong = 0;
  for (const ResultRow& row : run.rows) {
    wrong +=
        row.out_of_place.wrong.value_or(0) + row.in_place.wrong.value_or(0);
  }
  return wrong;
}

double AverageBusBandwidth(const BenchmarkRun& run) {
  if (run.rows.empty()) return 0;
  double sum = 0;
  for (const ResultRow& row : run.rows) {
    sum += row.out_of_place.bus_bw + row.in_place.bus_bw;
  }
  return sum / (2.0 * static_cast<double>(run.rows.size()));
}

}  // namespace rondo::perf
