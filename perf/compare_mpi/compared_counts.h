// The sizes that a comparison visits: doubling, with one odd number of elements
// between neighbours, because a library may be fast on powers of two only.
//
// Thread-safety: pure. Failure: none.
//
// Example:
//   ComparedCounts({.min_bytes = 32, .max_bytes = 128}, 2);  // 4, 7, 8, 13, 16
#pragma once

#include <cstddef>
#include <vector>

#include "perf/bench/sweep.h"

namespace rondo::perf {

// fp32 elements per rank, ascending. The odd counts lie halfway between the
// others; there is none where no whole number does. `sweep` must be complete.
std::vector<size_t> ComparedCounts(const SweepOptions& sweep, int ranks);

}  // namespace rondo::perf
