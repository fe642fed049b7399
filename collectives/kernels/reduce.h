// ReduceElements: combines several arrays into one, element by element.
//
// One pass reads every source once and writes the destination once; partial
// results stay in registers. The best vector unit of the running machine is
// chosen at run time, and every choice gives the same bits:
//
// - Sources are combined in the order given: ((s0 + s1) + s2) + ...
// - half and bfloat16 are widened to fp32, combined in fp32 over all sources
//   and rounded once, to nearest even. float and double use their own format.
// - An element's result does not depend on its position, on alignment or on
//   count: ragged ends go through the same vector code as the middle.
// - Integers wrap around (two's complement), signed ones too.
// - kMax and kMin: a NaN in any source makes the result NaN; -0 is less than
// +0.
// - A floating-point result that is NaN, of any reduction and even of a single
//   source, is the positive quiet NaN without payload (0x7fc00000 for float):
//   which payload survives an addition differs between processors.
//
// Thread-safety: safe on disjoint destinations. Ownership: none taken.
// Failure: none; the arguments must satisfy what is said below.
//
// Example:
//   const void* sources[] = {mine, theirs};
//   ReduceElements(DataType::kBfloat16, Reduction::kAverage, sources, 2, mine,
//                  count, ReduceScale{.divisor = world_size});
#pragma once

#include <cstddef>

#include "collectives/kernels/data_type.h"
#include "collectives/kernels/store_hint.h"

namespace rondo {

// What to do with the combined value before it is stored. Only the last of
// several partial reductions of the same elements should scale.
struct ReduceScale {
  // The result is divided by this: the number of ranks for an average. At
  // least 1; 1 means no division. Floats divide in fp32 (half, bfloat16, float)
  // or fp64 (double) before the one rounding to the type; integers divide the
  // wrapped sum and truncate towards zero, as NCCL does.
  int divisor = 1;
};

// Combines `source_count` (at least 1) arrays of `count` elements into
// `destination`. Pointers may have any alignment. `destination` may be
// identical to some of the sources, and must not overlap them otherwise.
// kAverage adds, like kSum; it is `scale` that asks for the division.
void ReduceElements(DataType type, Reduction reduction,
                    const void* const* sources, int source_count,
                    void* destination, size_t count, ReduceScale scale = {},
                    StoreHint hint = StoreHint::kCached);

// The vector unit that is used on this machine: "AVX3", "AVX2", "NEON"...
const char* ReduceTargetName();

}  // namespace rondo
