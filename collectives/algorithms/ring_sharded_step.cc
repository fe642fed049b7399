#include <utility>

#include "collectives/algorithms/ring.h"

namespace rondo {
namespace {

RankProgram BuildProgram(const RingSeat& seat) {
  RankProgram program;
  program.scratch_blocks = RingScratchBlocks(seat.ranks());
  StepList steps(&program.chunk);
  PartialSum sum = AddRingReduceHalf(seat, &steps);
  steps.Update(std::move(sum.sources), {seat.Own(Space::kOutput)});
  // The sums used messages 0..ranks-2 on the same link.
  const std::vector<int> gather_sends =
      AddRingGatherHalf(seat, /*first_message=*/seat.ranks() - 1, &steps);
  for (int send : sum.sends) steps.WaitStep(send);
  for (int send : gather_sends) steps.WaitStep(send);
  return program;
}

}  // namespace

Shape RingShardedStep(RankOrder order) {
  return MakeRingShape(Collective::kShardedStep, std::move(order),
                       BuildProgram);
}

}  // namespace rondo
