// What a block holds, as the verifier sees it: which logical block, and whose
// contributions were summed into it.
//
// Thread-safety: values and pure functions. Failure: CombineValues returns what
// is wrong, as the words that follow "rank r, step s: "; empty when all is
// well.
//
// Example:
//   SymbolicValue sum;
//   std::string problem = CombineValues(shape, step, rank, sources, &sum);
#pragma once

#include <string>
#include <vector>

#include "collectives/plan/plan.h"
#include "collectives/plan/rank_set.h"

namespace rondo {

struct SymbolicValue {
  int block = -1;  // -1: nothing was written yet
  RankSet contributions;
  bool completed = false;  // a reduce that completes the sum made it
  bool updated = false;

  friend bool operator==(const SymbolicValue&, const SymbolicValue&) = default;
};

// "block 2 of ranks 0, 1, 3, updated".
std::string ValueToText(const SymbolicValue& value, int ranks);

// What input[index] of `rank` holds at the start.
SymbolicValue InputValue(const Shape& shape, int rank, int index);

// What output[index] of `rank` must hold at the end.
SymbolicValue OutputValue(const Shape& shape, int rank, int index);

// What a copy, reduce or update on `rank` makes of its sources.
std::string CombineValues(const Shape& shape, const Step& step, int rank,
                          const std::vector<SymbolicValue>& sources,
                          SymbolicValue* result);

}  // namespace rondo
