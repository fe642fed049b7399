#include <utility>

#include "collectives/algorithms/ring.h"

namespace rondo {
namespace {

RankProgram BuildProgram(const RingSeat& seat) {
  RankProgram program;
  program.scratch_blocks = RingScratchBlocks(seat.ranks());
  StepList steps(&program.chunk);
  PartialSum sum = AddRingReduceHalf(seat, &steps);
  steps.Reduce(std::move(sum.sources), seat.Own(Space::kOutput),
               /*completes_sum=*/true);
  for (int send : sum.sends) steps.WaitStep(send);
  return program;
}

}  // namespace

Shape RingReduceScatter(RankOrder order) {
  return MakeRingShape(Collective::kReduceScatter, std::move(order),
                       BuildProgram);
}

}  // namespace rondo
