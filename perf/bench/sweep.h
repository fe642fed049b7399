// The sizes that a benchmark visits, by nccl-tests' -b, -e, -i and -f.
//
// A size S is the total: what an all-gather receives, what a reduce-scatter
// sends, the whole message of a broadcast. It is cut into `blocks` equal blocks
// of whole elements: rounded down, but at least one element each.
//
// Thread-safety: pure functions. Failure: contradictions are refused with the
// values.
//
// Example:
//   SweepOptions sweep{.min_bytes = 8, .max_bytes = 1 << 20, .factor = 2};
//   for (size_t count : SweepCounts(sweep, 4, sizeof(float))) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/base/status.h"

namespace rondo::perf {

// nccl-tests visits this one size unless told otherwise.
inline constexpr int64_t kDefaultSweepBytes = int64_t{32} << 20;

struct SweepOptions {
  // 0: not given; then it follows the other one, so that `-e 1Ki` alone does
  // not contradict a default.
  int64_t min_bytes = 0;
  int64_t max_bytes = 0;
  int64_t step_bytes = 0;  // not 0: sizes grow by this instead of the factor
  int factor = 2;
};

// Fills in what was not given; refuses min > max.
Status CompleteSweep(SweepOptions* sweep);

// Elements per block for a total of `bytes`.
size_t RoundedCount(int64_t bytes, int blocks, size_t element_bytes);

// Elements per block of every size, in order; sizes that round to the same
// count are visited once. `sweep` must be complete.
std::vector<size_t> SweepCounts(const SweepOptions& sweep, int blocks,
                                size_t element_bytes);

}  // namespace rondo::perf
