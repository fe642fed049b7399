#include <utility>

#include "collectives/algorithms/ring.h"

namespace rondo {
namespace {

RankProgram BuildProgram(const RingSeat& seat) {
  RankProgram program;
  StepList steps(&program.chunk);
  steps.Copy(seat.Own(Space::kInput), seat.Own(Space::kOutput));
  for (int send : AddRingGatherHalf(seat, /*first_message=*/0, &steps)) {
    steps.WaitStep(send);
  }
  return program;
}

}  // namespace

Shape RingAllGather(RankOrder order) {
  return MakeRingShape(Collective::kAllGather, std::move(order), BuildProgram);
}

}  // namespace rondo
