#include "collectives/plan/test_shapes.h"

#include <functional>
#include <utility>

#include "collectives/plan/verifier.h"

namespace rondo {
namespace {

// All peers of `rank`, each rank starting with the one after it.
std::vector<int> PeersOf(int rank, int ranks) {
  std::vector<int> peers;
  for (int i = 1; i < ranks; ++i) peers.push_back((rank + i) % ranks);
  return peers;
}

// A shape whose chunk steps, made by `build`, run between ready and done flags.
Shape Direct(Collective collective, int ranks,
             std::function<void(int rank, StepList*)> build) {
  Shape shape;
  shape.collective = collective;
  shape.algorithm = "direct";
  shape.ranks = ranks;
  shape.for_rank = [ranks, build](int rank) {
    RankProgram program;
    StepList prologue(&program.prologue);
    StepList chunk(&program.chunk);
    StepList epilogue(&program.epilogue);
    for (int peer : PeersOf(rank, ranks)) prologue.Signal(peer, kReadyFlag);
    for (int peer : PeersOf(rank, ranks)) prologue.WaitFlag(peer, kReadyFlag);
    build(rank, &chunk);
    for (int peer : PeersOf(rank, ranks)) epilogue.Signal(peer, kDoneFlag);
    for (int peer : PeersOf(rank, ranks)) epilogue.WaitFlag(peer, kDoneFlag);
    return program;
  };
  return shape;
}

// Maps each old index to its new one (-1: removed) in every wait.
void Renumber(std::vector<Step>* steps, const std::vector<int>& new_index) {
  for (Step& step : *steps) {
    if (step.waits_for < 0) continue;
    step.waits_for = new_index[step.waits_for];
  }
}

}  // namespace

Shape DirectAllGather(int ranks) {
  return Direct(Collective::kAllGather, ranks,
                [ranks](int rank, StepList* steps) {
                  steps->Copy(In(rank, rank), Out(rank, rank));
                  for (int peer : PeersOf(rank, ranks)) {
                    steps->Copy(In(peer, peer), Out(rank, peer));
                  }
                });
}

Shape DirectReduceScatter(int ranks) {
  return Direct(Collective::kReduceScatter, ranks,
                [ranks](int rank, StepList* steps) {
                  std::vector<BlockRef> sources;
                  for (int owner = 0; owner < ranks; ++owner) {
                    sources.push_back(In(owner, rank));
                  }
                  steps->Reduce(std::move(sources), Out(rank, rank), true);
                });
}

Shape DirectShardedStep(int ranks) {
  return Direct(Collective::kShardedStep, ranks,
                [ranks](int rank, StepList* steps) {
                  std::vector<BlockRef> sources;
                  std::vector<BlockRef> destinations;
                  for (int owner = 0; owner < ranks; ++owner) {
                    sources.push_back(In(owner, rank));
                    destinations.push_back(Out(owner, rank));
                  }
                  steps->Update(std::move(sources), std::move(destinations));
                });
}

Shape PushAllGather(int ranks) {
  return Direct(Collective::kAllGather, ranks,
                [ranks](int rank, StepList* steps) {
                  std::vector<int> puts;
                  for (int peer : PeersOf(rank, ranks)) {
                    puts.push_back(steps->Put(In(rank, rank), Out(peer, rank)));
                  }
                  steps->Copy(In(rank, rank), Out(rank, rank));
                  for (int put : puts) steps->WaitStep(put);
                });
}

BlockRef In(int owner, int index) {
  return {.space = Space::kInput, .owner = owner, .index = index};
}

BlockRef Out(int owner, int index) {
  return {.space = Space::kOutput, .owner = owner, .index = index};
}

BlockRef Scratch(int owner, int index, int block) {
  return {
      .space = Space::kScratch, .owner = owner, .index = index, .block = block};
}

Shape ByHand(Collective collective, int ranks,
             std::function<RankProgram(int rank)> for_rank) {
  Shape shape;
  shape.collective = collective;
  shape.algorithm = "by hand";
  shape.ranks = ranks;
  shape.for_rank = std::move(for_rank);
  return shape;
}

std::string ProblemOf(const Shape& shape,
                      std::function<void(std::vector<RankProgram>*)> mutate) {
  std::vector<RankProgram> programs = ProgramsOf(shape);
  mutate(&programs);
  const Result<PlanFacts> facts =
      VerifyShape(WithPrograms(shape, std::move(programs)));
  return facts.ok() ? "accepted" : facts.status().ToString();
}

std::string ProblemOfChunk(const Shape& shape, int rank,
                           std::function<void(std::vector<Step>*)> mutate) {
  return ProblemOf(shape, [&](std::vector<RankProgram>* programs) {
    mutate(&(*programs)[rank].chunk);
  });
}

std::vector<RankProgram> ProgramsOf(const Shape& shape) {
  std::vector<RankProgram> programs;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    programs.push_back(shape.ForRank(rank));
  }
  return programs;
}

Shape WithPrograms(const Shape& shape, std::vector<RankProgram> programs) {
  Shape changed = shape;
  changed.for_rank = [programs = std::move(programs)](int rank) {
    return programs.at(rank);
  };
  return changed;
}

void RemoveStep(std::vector<Step>* steps, int index) {
  std::vector<Step> kept;
  std::vector<int> new_index;
  for (int i = 0; i < static_cast<int>(steps->size()); ++i) {
    const Step& step = (*steps)[i];
    const bool removed = i == index || step.waits_for == index;
    new_index.push_back(removed ? -1 : static_cast<int>(kept.size()));
    if (!removed) kept.push_back(step);
  }
  *steps = std::move(kept);
  Renumber(steps, new_index);
}

void SwapSteps(std::vector<Step>* steps, int a, int b) {
  std::vector<int> new_index(steps->size());
  for (size_t i = 0; i < new_index.size(); ++i) {
    new_index[i] = static_cast<int>(i);
  }
  std::swap(new_index[a], new_index[b]);
  std::swap((*steps)[a], (*steps)[b]);
  Renumber(steps, new_index);
}

int FindStep(const std::vector<Step>& steps, StepKind kind, int nth) {
  for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
    if (steps[i].kind == kind && nth-- == 0) return i;
  }
  return -1;
}

}  // namespace rondo
