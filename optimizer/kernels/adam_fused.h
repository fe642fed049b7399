// FusedAdam: sum of the gradients, Adam and rounded stores in one loop.
//
// The same results as SumGradientTile(), AdamTile() and StoreParameterTile()
// one after the other, bit for bit, but every value stays in registers between
// them, and memory is read and written evenly while the divisions run: measured
// with data in memory, about 1.4 times as fast as tile by tile.
// update_elements.h chooses between the two.
//
// Thread-safety: safe on disjoint arrays. Ownership: none taken. Failure: does
// nothing, and returns 0, for what it is not built for.
//
// Example:
//   size_t done = FusedAdam(constants, update);
//   // the rest, update.count - done elements, tile by tile
#pragma once

#include <cstddef>

#include "optimizer/kernels/adam_kernel.h"
#include "optimizer/kernels/element_update.h"

namespace rondo {

// Updates the first elements and returns how many: all but a few, or none when
// types are mixed or other than float and bfloat16, with L2 decay, when a
// destination to be streamed to does not start at a cache line, or on the
// scalar fallback. Does not fence streamed stores.
size_t FusedAdam(const AdamConstants& constants, const ElementUpdate& update);

}  // namespace rondo
