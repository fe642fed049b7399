// A tile: the unit in which the fused step works.
//
// 1024 elements are 4 KiB of fp32. A gradient tile is summed, measured, used
// and dropped while it stays in the L1 cache, so that memory sees each array
// once. Tiles are also where parameters and shards begin, and over which
// norms are summed, so that no border changes a bit.
//
// Thread-safety: a constant. Ownership: none. Failure: none.
//
// Example:
//   for (size_t at = 0; at < count; at += kTileElements) {
//     UpdateOneTile(at, std::min(kTileElements, count - at));
//   }
#pragma once

#include <cstddef>

namespace rondo {

inline constexpr size_t kTileElements = 1024;

}  // namespace rondo
