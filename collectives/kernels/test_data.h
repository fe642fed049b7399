// Test data whose reductions are exact, and the check of what came back.
//
// A collective is checked by filling each rank's input with FillTestData,
// running it, and comparing with FillExpected. For up to kMaxTestRanks ranks
// every partial result, in any order and association, is representable in the
// data type, so that a correct implementation, ring or tree, gives these very
// bits and nothing needs a tolerance:
//
// - sum, avg: small integers, none zero. 8-bit types, half and bfloat16 have
//   room for few: ranks 0 to 7 contribute to every element, and of the ranks
//   8-15, 16-31, ... 512-1023 one each, picked by the element; the others have
//   zeros there. The total never overflows.
// - prod: powers of two for floats (shared out in the same way, ones instead of
//   zeros); odd numbers for integers, whose products wrap: an odd factor can
//   always be told, a factor of two is lost after as many bits as the type has.
// - max, min: any value of the type but NaN, infinities, zeros, subnormals.
//
// Values depend on seed, rank and element, so that a missing, doubled or
// misplaced contribution shows. To check an all-gather, fill with kMax: it uses
// the whole range on every rank, and compare with FillTestData of the source.
//
// Thread-safety: pure functions. Ownership: none taken. Pointers may have any
// alignment. Failure: none; ranks are 0 to kMaxTestRanks - 1.
//
// Example:
//   FillTestData(type, Reduction::kSum, seed, rank, 0, input, count);
//   ...
//   FillExpected(type, Reduction::kSum, seed, world_size, 0, want, count);
//   size_t wrong = CountWrong(type, output, want, count);
#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/kernels/data_type.h"

namespace rondo {

inline constexpr int kMaxTestRanks = 1024;

// For CountWrong after an average by an implementation that multiplies by a
// rounded 1/n instead of dividing. Rondo divides and needs none.
inline constexpr int kAverageToleranceUlps = 1;

// Writes elements [element_offset, element_offset + count) of the input of
// `rank`: filling in pieces gives the same data as filling at once.
void FillTestData(DataType type, Reduction reduction, uint64_t seed, int rank,
                  size_t element_offset, void* data, size_t count);

// Writes the same elements of the reduction over ranks 0 to world_size - 1. An
// average is the sum divided by world_size: rounded to nearest, ties to even,
// for floats, truncated towards zero for integers.
void FillExpected(DataType type, Reduction reduction, uint64_t seed,
                  int world_size, size_t element_offset, void* data,
                  size_t count);

// How many elements of `got` differ from `want` in any bit. A tolerance above 0
// lets floats differ by so many units in the last place (a NaN never agrees);
// integers are always compared exactly.
size_t CountWrong(DataType type, const void* got, const void* want,
                  size_t count, int tolerance_ulps = 0);

}  // namespace rondo
