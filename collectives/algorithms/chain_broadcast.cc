#include <utility>

#include "collectives/algorithms/ring.h"

namespace rondo {
namespace {

BlockRef Block(Space space, int rank) {
  return {.space = space, .owner = rank, .index = 0};
}

RankProgram BuildProgram(const RingSeat& seat, int root) {
  RankProgram program;
  const int rank = seat.rank();
  StepList steps(&program.chunk);
  const BlockRef output = Block(Space::kOutput, rank);
  if (rank == root) {
    steps.Copy(Block(Space::kInput, rank), output);
  } else {
    steps.WaitStep(steps.Recv(output, seat.left(), /*message=*/0));
  }
  // The chain ends at the root's left neighbour.
  if (seat.right() != root) {
    steps.WaitStep(steps.Send(output, seat.right(), /*message=*/0));
  }
  return program;
}

}  // namespace

Shape ChainBroadcast(RankOrder order, int root) {
  Shape shape = MakeRingShape(
      Collective::kBroadcast, std::move(order),
      [root](const RingSeat& seat) { return BuildProgram(seat, root); });
  shape.algorithm = "chain";
  shape.root = root;
  return shape;
}

}  // namespace rondo
