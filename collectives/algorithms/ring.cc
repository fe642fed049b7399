#include "collectives/algorithms/ring.h"

#include <algorithm>
#include <utility>

namespace rondo {

RingSeat::RingSeat(const RankOrder& order, int rank)
    : order_(order), rank_(rank), position_(order.PositionOf(rank)) {}

int RingSeat::BlockAt(int distance) const {
  return order_.at[(position_ + distance + ranks()) % ranks()];
}

BlockRef RingSeat::At(Space space, int distance) const {
  return {.space = space, .owner = rank_, .index = BlockAt(distance)};
}

BlockRef RingSeat::Scratch(int index, int distance) const {
  return {.space = Space::kScratch,
          .owner = rank_,
          .index = index,
          .block = BlockAt(distance)};
}

int RingScratchBlocks(int ranks) { return std::clamp(ranks - 1, 0, 2); }

PartialSum AddRingReduceHalf(const RingSeat& seat, StepList* steps) {
  if (seat.ranks() == 1) return {{seat.Own(Space::kInput)}, {}};
  const int hops = seat.ranks() - 1;
  PartialSum sum;
  sum.sends = {steps->Send(seat.At(Space::kInput, -1), seat.right(), 0)};
  // Two scratch blocks take turns: one receives while the other is being sent.
  int sending_from[2] = {-1, -1};
  for (int hop = 0; hop < hops; ++hop) {
    const int turn = hop % 2;
    const BlockRef partial = seat.Scratch(turn, -2 - hop);
    if (sending_from[turn] >= 0) steps->WaitStep(sending_from[turn]);
    steps->WaitStep(steps->Recv(partial, seat.left(), hop));
    const BlockRef own = seat.At(Space::kInput, -2 - hop);
    if (hop == hops - 1) {
      sum.sources = {partial, own};
      sending_from[turn] = -1;
    } else {
      steps->Reduce({partial, own}, partial, /*completes_sum=*/false);
      sending_from[turn] = steps->Send(partial, seat.right(), hop + 1);
    }
  }
  for (int send : sending_from) {
    if (send >= 0) sum.sends.push_back(send);
  }
  return sum;
}

std::vector<int> AddRingGatherHalf(const RingSeat& seat, int first_message,
                                   StepList* steps) {
  std::vector<int> sends;
  for (int hop = 0; hop + 1 < seat.ranks(); ++hop) {
    const int message = first_message + hop;
    sends.push_back(
        steps->Send(seat.At(Space::kOutput, -hop), seat.right(), message));
    steps->WaitStep(
        steps->Recv(seat.At(Space::kOutput, -hop - 1), seat.left(), message));
  }
  return sends;
}

Shape MakeRingShape(Collective collective, RankOrder order,
                    std::function<RankProgram(const RingSeat&)> build) {
  Shape shape;
  shape.collective = collective;
  shape.algorithm = "ring";
  shape.ranks = order.ranks();
  // Shared, because a Shape is copied and an order may hold 65,536 ranks.
  auto shared = std::make_shared<const RankOrder>(std::move(order));
  shape.for_rank = [shared, build = std::move(build)](int rank) {
    if (shared->PositionOf(rank) < 0) return RankProgram();
    return build(RingSeat(*shared, rank));
  };
  return shape;
}

}  // namespace rondo
