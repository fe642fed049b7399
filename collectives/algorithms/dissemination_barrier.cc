#include <cstdint>

#include "collectives/algorithms/algorithms.h"

namespace rondo {
namespace {

// In the prologue, since a barrier has no chunks. 64-bit, because the distance
// may pass the largest int before the loop ends.
RankProgram BuildProgram(int ranks, int rank) {
  RankProgram program;
  StepList steps(&program.prologue);
  int flag = kFirstFreeFlag;
  for (int64_t distance = 1; distance < ranks; distance *= 2, ++flag) {
    steps.Signal(static_cast<int>((rank + distance) % ranks), flag);
    steps.WaitFlag(static_cast<int>((rank - distance + ranks) % ranks), flag);
  }
  return program;
}

}  // namespace

Shape DisseminationBarrier(int ranks) {
  Shape shape;
  shape.collective = Collective::kBarrier;
  shape.algorithm = "dissemination";
  shape.ranks = ranks;
  shape.for_rank = [ranks](int rank) { return BuildProgram(ranks, rank); };
  return shape;
}

}  // namespace rondo
