// SumAndMeasureTile: the sum of a gradient tile and of its squares, in one pass
// over its sources.
//
// What the first pass of a clipped step does. The bits are those of
// SumGradientTile() and TileSquaredSum(), which also do the work where sources
// are neither all float nor all bfloat16, or the tile is ragged.
//
// Thread-safety: safe on disjoint outputs. Ownership: none taken. Failure:
// none; see tile_kernels.h for what is accepted.
//
// Example:
//   squares.Add(SumAndMeasureTile(sources, offset, kTileElements, scale,
//                                 nullptr, StoreHint::kCached).sum);
#pragma once

#include <cstddef>
#include <span>

#include "collectives/engine/update.h"
#include "collectives/kernels/store_hint.h"
#include "optimizer/kernels/tile_kernels.h"

namespace rondo {

// `kept`: where the scaled sum goes, `count` floats, or null. With kStream the
// caller must call FenceStreamedStores() before it tells anyone.
SquaredSum SumAndMeasureTile(std::span<const ConstElements> sources,
                             size_t offset, size_t count, float scale,
                             float* kept, StoreHint hint);

}  // namespace rondo
