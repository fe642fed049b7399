// MemoryLimits: how fast this host's memory is with every rank at work, and how
// long a collective must take for that alone.
//
// The limit of a collective is the time of the plainest loop that moves what it
// must move, at the speed that the same loop reaches in private memory:
//
// - All-gather: every byte of every output is read once and written once. That
//   is ranks x total bytes copied on the host, (ranks - 1) x total in place,
//   where a rank's own block is there already; at copy_gbs. (An algorithm that
//   reads a block once and stores it into all outputs reads less than this, and
//   can come out above 1.)
// - Reduce-scatter: every rank reads its block from every rank and writes it
//   once. That is (ranks + 1) x total bytes read or written on the host, in
//   place as well; at the speed of the loop with as many sources as ranks.
//
// Thread-safety: values and pure functions. Failure: none.
//
// Example:
//   const double least_us = LeastTimeUs(
//       limits.copy_gbs, Collective::kAllGather, bytes, 2, in_place);
//   const double fraction = least_us / measured_us;
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "collectives/kernels/store_hint.h"
#include "collectives/plan/plan.h"

namespace rondo::perf {

std::string_view StoreHintName(StoreHint hint);  // "cached", "streaming"

struct ReduceLimit {
  int sources = 2;
  double gbs = 0;  // 10^9 bytes read or written per second, all ranks together
  StoreHint hint = StoreHint::kCached;  // the faster one
};

struct MemoryLimits {
  double copy_gbs = 0;  // 10^9 bytes copied per second, all ranks together
  StoreHint copy_hint = StoreHint::kCached;
  std::vector<ReduceLimit> reduce;  // of 2 sources, and of as many as ranks
};

// Below this total the caches, not the memory, set the pace.
inline constexpr size_t kLeastLimitedBytes = size_t{8} << 20;

// Whether the memory can be what limits a collective of this size.
inline bool IsMemoryBound(size_t total_bytes) {
  return total_bytes >= kLeastLimitedBytes;
}

// The speed of the loop that limits the collective: copying, or reducing as
// many sources as ranks. 0 where it was not measured.
double LimitingGbs(const MemoryLimits& limits, Collective collective,
                   int ranks);

// Microseconds at that speed; 0 for none.
double LeastTimeUs(double gbs, Collective collective, size_t total_bytes,
                   int ranks, bool in_place);

// Empty where the memory is no limit, or was not measured.
std::optional<double> LimitFraction(double gbs, Collective collective,
                                    size_t total_bytes, int ranks,
                                    bool in_place, double time_us);

}  // namespace rondo::perf
