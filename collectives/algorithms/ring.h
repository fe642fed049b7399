// The two halves of every ring algorithm, as steps of one rank's chunk program.
//
// Rank orders that are not permutations must not crash anything here: a rank
// without a place gets an empty program, and the verifier refuses the shape.
//
// Thread-safety: values. A RingSeat refers to its RankOrder, which must outlive
// it.
//
// Example:
//   RingSeat seat(order, rank);
//   StepList steps(&program.chunk);
//   PartialSum sum = AddRingReduceHalf(seat, &steps);
//   steps.Reduce(sum.sources, seat.Own(Space::kOutput), true);
//   for (int send : sum.sends) steps.WaitStep(send);
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collectives/algorithms/algorithms.h"
#include "collectives/plan/plan.h"

namespace rondo {

// One rank's place in the ring.
class RingSeat {
 public:
  RingSeat(const RankOrder& order, int rank);

  int rank() const { return rank_; }
  int ranks() const { return order_.ranks(); }
  int right() const { return BlockAt(1); }
  int left() const { return BlockAt(-1); }
  // The rank, and so the block, `distance` positions to the right; -ranks() is
  // the farthest to the left.
  int BlockAt(int distance) const;
  // This rank's copy of that block.
  BlockRef At(Space space, int distance) const;
  BlockRef Own(Space space) const { return At(space, 0); }
  // Scratch block `index`, holding a part of the block `distance` away.
  BlockRef Scratch(int index, int distance) const;

 private:
  const RankOrder& order_;
  int rank_;
  int position_;
};

// What the reduce-scatter half leaves to its caller: the parts of this rank's
// own block, still to be summed, and the sends still to be waited for.
struct PartialSum {
  std::vector<BlockRef> sources;
  std::vector<int> sends;
};

// Scratch blocks that AddRingReduceHalf uses.
int RingScratchBlocks(int ranks);

// Moves partial sums around the ring, with messages 0..ranks-2.
PartialSum AddRingReduceHalf(const RingSeat& seat, StepList* steps);

// Moves every rank's output block around the ring, with messages first_message
// and up. Returns the sends still to be waited for.
std::vector<int> AddRingGatherHalf(const RingSeat& seat, int first_message,
                                   StepList* steps);

// A shape whose program on each rank is what `build` makes of its seat.
Shape MakeRingShape(Collective collective, RankOrder order,
                    std::function<RankProgram(const RingSeat&)> build);

}  // namespace rondo
