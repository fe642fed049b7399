// The memory of all ranks as the verifier sees it: what each block holds, and
// who touched it when.
//
// A block is a cell; in place, input and output of the collective's own block
// are one cell. Time is counted by each rank for itself, in steps; a
// VectorClock is what one rank knows of all ranks' times. Two touches of a cell
// of which one writes must be ordered: the later rank must know of the earlier
// touch.
//
// Thread-safety: none. Failure: a Touch returns what is wrong, as the words
// that follow "rank r, step s: "; empty when all is well.
//
// Example:
//   std::string problem = memory.Read(cell, {rank, now}, clock);
#pragma once

#include <string>
#include <vector>

#include "collectives/plan/plan.h"
#include "collectives/plan/programs.h"
#include "collectives/plan/symbolic_value.h"
#include "collectives/plan/verifier.h"

namespace rondo {

using VectorClock = std::vector<int>;

struct Touch {
  int rank = -1;
  int time = 0;

  bool KnownTo(const VectorClock& clock) const { return clock[rank] >= time; }
};

struct Cell {
  SymbolicValue value;
  Touch last_write;
  std::vector<Touch> reads;     // since the last write, one per rank
  StepId arriving;              // the transfer that is writing it
  std::vector<StepId> leaving;  // transfers that are reading it
};

class SymbolicMemory {
 public:
  SymbolicMemory(const Shape& shape, const Programs& programs,
                 Placement placement);

  Cell& At(const BlockRef& block);
  // Whether a write there would destroy an input.
  bool IsInput(const BlockRef& block) const;

  std::string Read(Cell* cell, Touch by, const VectorClock& clock) const;
  std::string Write(Cell* cell, Touch by, const VectorClock& clock) const;

 private:
  void FillInput(const Shape& shape, int rank);
  // Index of the own block that input and output share in place, or -1.
  int SharedBlock(int rank) const;

  const Programs& programs_;
  Collective collective_;
  bool in_place_;
  int root_;
  // [space][rank]: the cells of that rank's space, from first_[space][rank].
  std::vector<std::vector<Cell>> cells_[3];
  std::vector<int> first_[3];
};

}  // namespace rondo
