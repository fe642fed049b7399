#include "perf/compare_mpi/compared_counts.h"

namespace rondo::perf {

std::vector<size_t> ComparedCounts(const SweepOptions& sweep, int ranks) {
  std::vector<size_t> counts;
  for (size_t count : SweepCounts(sweep, ranks, sizeof(float))) {
    if (!counts.empty()) {
      const size_t odd = (counts.back() + count) / 2 | 1;
      if (odd > counts.back() && odd < count) counts.push_back(odd);
    }
    counts.push_back(count);
  }
  return counts;
}

}  // namespace rondo::perf
