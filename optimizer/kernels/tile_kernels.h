// The tile kernels: what the fused step does before and after the rule.
//
// SumGradientTile() adds the gradients of all ranks into a tile of fp32,
// TileSquaredSum() measures it for the norm, and StoreParameterTile() writes
// the updated fp32 parameters to every rank's buffer in its own type. The best
// vector unit is chosen at run time. The bits are the same on every unit, and
// an element's bits depend on its own values only, never on its place, on
// `count` or on alignment.
//
// Thread-safety: safe on disjoint outputs. Ownership: none taken. Failure:
// none; types are floating-point, `count` is 0 to kTileElements, and no output
// overlaps an input.
//
// Example:
//   alignas(64) float gradient[kTileElements];
//   SumGradientTile(sources, offset, count, scale, gradient);
//   rule.ApplyTile(group, gradient, master + at, states, count);
//   StoreParameterTile(master + at, count, destinations, offset, hint);
//   FenceStreamedStores();
#pragma once

#include <cstddef>
#include <span>

#include "collectives/engine/update.h"
#include "collectives/kernels/store_hint.h"

namespace rondo {

// tile[i] = (((s0 + s1) + s2) + ...) * scale, where s0 is element offset + i of
// the first source: in fp32, one rounding per sum and one for the product. A
// double is rounded to fp32 before it is added. Without sources: zeros. A NaN
// becomes the positive quiet NaN without payload, as in reduce.h. Arrays may
// have any alignment.
void SumGradientTile(std::span<const ConstElements> sources, size_t offset,
                     size_t count, float scale, float* tile);

// Writes the parameters to elements offset .. offset + count - 1 of every
// destination, rounded to nearest, ties to even, once for each type. With
// kStream whole cache lines are stored past the cache: the caller must call
// FenceStreamedStores() before it tells anyone that they are written.
void StoreParameterTile(const float* parameter, size_t count,
                        std::span<const MutableElements> destinations,
                        size_t offset, StoreHint hint);

// Orders streamed stores before what follows; once for many tiles, because it
// waits for memory.
void FenceStreamedStores();

struct SquaredSum {
  double sum = 0;
  bool finite = true;  // whether no element is an infinity or NaN
};

// The sum of squares in double, where each square is exact: 16 partial sums, of
// the elements with equal index modulo 16, are added in one fixed tree. So the
// bits depend on where a tile begins and on nothing else.
SquaredSum TileSquaredSum(const float* tile, size_t count);

}  // namespace rondo
