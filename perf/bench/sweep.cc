#include "perf/bench/sweep.h"

#include <algorithm>

#include "fmt/format.h"

namespace rondo::perf {

Status CompleteSweep(SweepOptions* sweep) {
  int64_t& min = sweep->min_bytes;
  int64_t& max = sweep->max_bytes;
  if (min == 0)
    min = max == 0 ? kDefaultSweepBytes : std::min(max, kDefaultSweepBytes);
  if (max == 0) max = std::max(min, kDefaultSweepBytes);
  if (min > max) {
    return InvalidArgument(fmt::format(
        "the smallest size, {} bytes, is larger than the largest, {} bytes",
        min, max));
  }
  return Status::Ok();
}

size_t RoundedCount(int64_t bytes, int blocks, size_t element_bytes) {
  const size_t count = static_cast<size_t>(bytes) /
                       (static_cast<size_t>(blocks) * element_bytes);
  return std::max<size_t>(count, 1);
}

std::vector<size_t> SweepCounts(const SweepOptions& sweep, int blocks,
                                size_t element_bytes) {
  std::vector<size_t> counts;
  for (int64_t bytes = sweep.min_bytes; bytes <= sweep.max_bytes;) {
    const size_t count = RoundedCount(bytes, blocks, element_bytes);
    if (counts.empty() || counts.back() != count) counts.push_back(count);
    bytes =
        sweep.step_bytes > 0 ? bytes + sweep.step_bytes : bytes * sweep.factor;
  }
  return counts;
}

}  // namespace rondo::perf
