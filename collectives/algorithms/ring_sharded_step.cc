#include <utility>
#include <vector>

#include "collectives/algorithms/ring.h"

namespace rondo {
namespace {

// A sharded step, or one half of it. The sums use messages 0..ranks-2 on a
// link, so the other half begins at ranks-1 even where it is alone.
RankProgram BuildProgram(const RingSeat& seat, bool reduces, bool gathers) {
  RankProgram program;
  if (reduces) program.scratch_blocks = RingScratchBlocks(seat.ranks());
  StepList steps(&program.chunk);
  PartialSum sum;
  if (reduces) sum = AddRingReduceHalf(seat, &steps);
  std::vector<BlockRef> outputs;
  if (gathers) outputs.push_back(seat.Own(Space::kOutput));
  steps.Update(std::move(sum.sources), std::move(outputs));
  std::vector<int> sends = std::move(sum.sends);
  if (gathers) {
    for (int send : AddRingGatherHalf(seat, seat.ranks() - 1, &steps)) {
      sends.push_back(send);
    }
  }
  for (int send : sends) steps.WaitStep(send);
  return program;
}

Shape Make(Collective collective, RankOrder order) {
  const bool reduces = collective != Collective::kUpdateGather;
  const bool gathers = collective != Collective::kReduceUpdate;
  return MakeRingShape(collective, std::move(order),
                       [reduces, gathers](const RingSeat& seat) {
                         return BuildProgram(seat, reduces, gathers);
                       });
}

}  // namespace

Shape RingShardedStep(RankOrder order) {
  return Make(Collective::kShardedStep, std::move(order));
}

Shape RingReduceUpdate(RankOrder order) {
  return Make(Collective::kReduceUpdate, std::move(order));
}

Shape RingUpdateGather(RankOrder order) {
  return Make(Collective::kUpdateGather, std::move(order));
}

}  // namespace rondo
