// Direct algorithms: every rank touches its peers' memory itself, once.
//
// Between `ready` and `done` a rank's spaces are open to the others; nobody
// finishes before all its peers have closed. All ranks must reach each other's
// memory: those of one host, or of one NVLink domain.

#include <utility>

#include "collectives/algorithms/algorithms.h"

namespace rondo {
namespace {

BlockRef Block(Space space, int owner, int index) {
  return {.space = space, .owner = owner, .index = index};
}

// Peers in an order that starts after `rank`, so that not everybody reads the
// same rank's memory at the same time.
template <typename Visit>
void ForEachPeer(int rank, int ranks, const Visit& visit) {
  for (int distance = 1; distance < ranks; ++distance) {
    visit((rank + distance) % ranks);
  }
}

// A shape whose chunk steps are what `build` makes, between ready and done.
template <typename Build>
Shape MakeDirectShape(Collective collective, int ranks, Build build) {
  Shape shape;
  shape.collective = collective;
  shape.algorithm = "direct";
  shape.ranks = ranks;
  shape.for_rank = [ranks, build = std::move(build)](int rank) {
    RankProgram program;
    StepList prologue(&program.prologue);
    StepList chunk(&program.chunk);
    StepList epilogue(&program.epilogue);
    ForEachPeer(rank, ranks,
                [&](int peer) { prologue.Signal(peer, kReadyFlag); });
    ForEachPeer(rank, ranks,
                [&](int peer) { prologue.WaitFlag(peer, kReadyFlag); });
    build(rank, &chunk);
    ForEachPeer(rank, ranks,
                [&](int peer) { epilogue.Signal(peer, kDoneFlag); });
    ForEachPeer(rank, ranks,
                [&](int peer) { epilogue.WaitFlag(peer, kDoneFlag); });
    return program;
  };
  return shape;
}

// Every rank's input of this rank's block, in rank order: the one association
// of sums that depends on nothing else.
std::vector<BlockRef> AllInputsOf(int block, int ranks) {
  std::vector<BlockRef> inputs;
  for (int owner = 0; owner < ranks; ++owner) {
    inputs.push_back(Block(Space::kInput, owner, block));
  }
  return inputs;
}

// Every rank's output of this rank's block, its own first.
std::vector<BlockRef> AllOutputsOf(int rank, int ranks) {
  std::vector<BlockRef> outputs = {Block(Space::kOutput, rank, rank)};
  ForEachPeer(rank, ranks, [&](int peer) {
    outputs.push_back(Block(Space::kOutput, peer, rank));
  });
  return outputs;
}

// Updates `sources` into this rank's own output and puts that to the peers.
void UpdateAndPut(int rank, int ranks, std::vector<BlockRef> sources,
                  StepList* chunk) {
  const BlockRef own = Block(Space::kOutput, rank, rank);
  chunk->Update(std::move(sources), {own});
  ForEachPeer(rank, ranks, [&](int peer) {
    const int put = chunk->Put(own, Block(Space::kOutput, peer, rank));
    chunk->WaitStep(put);
  });
}

}  // namespace

Shape DirectAllGather(int ranks) {
  return MakeDirectShape(Collective::kAllGather, ranks,
                         [ranks](int rank, StepList* chunk) {
                           chunk->Copy(Block(Space::kInput, rank, rank),
                                       Block(Space::kOutput, rank, rank));
                           ForEachPeer(rank, ranks, [&](int peer) {
                             chunk->Copy(Block(Space::kInput, peer, peer),
                                         Block(Space::kOutput, rank, peer));
                           });
                         });
}

Shape DirectAllGatherPush(int ranks) {
  Shape shape = MakeDirectShape(Collective::kAllGather, ranks,
                                [ranks](int rank, StepList* chunk) {
                                  chunk->Copy(Block(Space::kInput, rank, rank),
                                              AllOutputsOf(rank, ranks));
                                });
  shape.algorithm = "push";
  return shape;
}

Shape DirectReduceScatter(int ranks) {
  return MakeDirectShape(Collective::kReduceScatter, ranks,
                         [ranks](int rank, StepList* chunk) {
                           chunk->Reduce(AllInputsOf(rank, ranks),
                                         Block(Space::kOutput, rank, rank),
                                         /*completes_sum=*/true);
                         });
}

Shape DirectShardedStep(int ranks) {
  return MakeDirectShape(
      Collective::kShardedStep, ranks, [ranks](int rank, StepList* chunk) {
        UpdateAndPut(rank, ranks, AllInputsOf(rank, ranks), chunk);
      });
}

Shape DirectShardedStepPush(int ranks) {
  Shape shape = MakeDirectShape(
      Collective::kShardedStep, ranks, [ranks](int rank, StepList* chunk) {
        chunk->Update(AllInputsOf(rank, ranks), AllOutputsOf(rank, ranks));
      });
  shape.algorithm = "push";
  return shape;
}

Shape DirectReduceUpdate(int ranks) {
  return MakeDirectShape(Collective::kReduceUpdate, ranks,
                         [ranks](int rank, StepList* chunk) {
                           chunk->Update(AllInputsOf(rank, ranks), {});
                         });
}

Shape DirectUpdateGather(int ranks) {
  return MakeDirectShape(Collective::kUpdateGather, ranks,
                         [ranks](int rank, StepList* chunk) {
                           UpdateAndPut(rank, ranks, {}, chunk);
                         });
}

Shape DirectUpdateGatherPush(int ranks) {
  Shape shape = MakeDirectShape(Collective::kUpdateGather, ranks,
                                [ranks](int rank, StepList* chunk) {
                                  chunk->Update({}, AllOutputsOf(rank, ranks));
                                });
  shape.algorithm = "push";
  return shape;
}

}  // namespace rondo
