// Random mutants of right shapes: whatever the verifier still accepts must give
// the right result in every interleaving that an independent execution tries.

#include <algorithm>
#include <iostream>
#include <random>

#include "collectives/algorithms/algorithms.h"
#include "collectives/plan/printer.h"
#include "collectives/plan/random_execution.h"
#include "collectives/plan/test_shapes.h"
#include "collectives/plan/verifier.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

using Random = std::mt19937;

int Below(int bound, Random* random) {
  return static_cast<int>((*random)() % bound);
}

RankOrder RandomOrder(int ranks, Random* random) {
  RankOrder order = RankOrder::Identity(ranks);
  std::shuffle(order.at.begin(), order.at.end(), *random);
  return order;
}

Shape RandomShape(Random* random) {
  const int ranks = 2 + Below(7, random);
  switch (Below(11, random)) {
    case 0:
      return RingAllGather(RandomOrder(ranks, random));
    case 1:
      return RingReduceScatter(RandomOrder(ranks, random));
    case 2:
      return RingShardedStep(RandomOrder(ranks, random));
    case 3:
      return ChainBroadcast(RandomOrder(ranks, random), Below(ranks, random));
    case 4:
      return DisseminationBarrier(ranks);
    case 5:
      return DirectAllGather(ranks);
    case 6:
      return DirectReduceScatter(ranks);
    case 7:
      return DirectShardedStep(ranks);
    case 8:
      return RingReduceUpdate(RandomOrder(ranks, random));
    case 9:
      return RingUpdateGather(RandomOrder(ranks, random));
    default:
      return PushAllGather(ranks);
  }
}

// Some operand of the step, or null.
BlockRef* SomeBlock(Step* step, Random* random) {
  std::vector<BlockRef*> blocks;
  for (BlockRef& block : step->sources) blocks.push_back(&block);
  for (BlockRef& block : step->destinations) blocks.push_back(&block);
  return blocks.empty() ? nullptr : blocks[Below(blocks.size(), random)];
}

void AlterBlock(Step* step, int ranks, Random* random) {
  BlockRef* block = SomeBlock(step, random);
  if (block == nullptr) return;
  switch (Below(4, random)) {
    case 0:
      block->index = Below(ranks, random);
      break;
    case 1:
      block->owner = Below(ranks, random);
      break;
    case 2:
      block->space = static_cast<Space>(Below(3, random));
      break;
    default:
      *block = *SomeBlock(step, random);
      break;
  }
}

void AlterNumbers(Step* step, int ranks, Random* random) {
  switch (Below(5, random)) {
    case 0:
      if (step->peer >= 0) step->peer = Below(ranks, random);
      break;
    case 1:
      if (step->message >= 0) step->message = Below(2 * ranks, random);
      break;
    case 2:
      if (step->flag >= 0) step->flag = Below(4, random);
      break;
    case 3:
      if (step->waits_for > 0) step->waits_for -= 1 + Below(2, random);
      break;
    default:
      step->completes_sum = !step->completes_sum;
      break;
  }
}

void AlterOperandList(Step* step, Random* random) {
  auto* list = Below(2, random) == 0 ? &step->sources : &step->destinations;
  if (list->empty()) return;
  const int at = Below(list->size(), random);
  switch (Below(3, random)) {
    case 0:
      list->push_back((*list)[at]);
      break;
    case 1:
      list->erase(list->begin() + at);
      break;
    default:
      std::swap((*list)[at], list->back());
      break;
  }
}

void MutateSteps(std::vector<Step>* steps, int ranks, Random* random) {
  const int at = Below(steps->size(), random);
  Step* step = &(*steps)[at];
  switch (Below(6, random)) {
    case 0:
      return RemoveStep(steps, at);
    case 1:
      return SwapSteps(steps, at, Below(steps->size(), random));
    case 2:
      if (at + 1 < static_cast<int>(steps->size())) {
        SwapSteps(steps, at, at + 1);
      }
      return;
    case 3:
      return AlterBlock(step, ranks, random);
    case 4:
      return AlterNumbers(step, ranks, random);
    default:
      return AlterOperandList(step, random);
  }
}

Shape Mutant(const Shape& shape, Random* random) {
  std::vector<RankProgram> programs = ProgramsOf(shape);
  const int mutations = 1 + Below(2, random);
  for (int i = 0; i < mutations; ++i) {
    RankProgram& program = programs[Below(shape.ranks, random)];
    std::vector<std::vector<Step>*> sections;
    for (auto* section :
         {&program.prologue, &program.chunk, &program.epilogue}) {
      if (!section->empty()) sections.push_back(section);
    }
    if (sections.empty()) continue;
    MutateSteps(sections[Below(sections.size(), random)], shape.ranks, random);
  }
  return WithPrograms(shape, std::move(programs));
}

// Some mutations choose what was there before.
bool SameSteps(const Shape& a, const Shape& b) {
  return ShapeToText(a, nullptr) == ShapeToText(b, nullptr);
}

std::vector<Placement> PlacementsOf(const Shape& shape) {
  if (HasUpdate(shape.collective) || shape.collective == Collective::kBarrier) {
    return {Placement::kOutOfPlace};
  }
  return {Placement::kOutOfPlace, Placement::kInPlace};
}

// What goes wrong in one of some interleavings, or nothing.
std::string TryInterleavings(const Shape& shape, Placement placement,
                             int interleavings, Random* random) {
  for (int i = 0; i < interleavings; ++i) {
    for (Sends sends : {Sends::kEager, Sends::kRendezvous}) {
      const std::string problem =
          ExecuteAtRandom(shape, placement, sends, (*random)());
      if (!problem.empty()) return problem;
    }
  }
  return "";
}

TEST(RandomExecutionTest, FindsNothingWrongWithRightShapes) {
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const Shape shape = RandomShape(&random);
    for (Placement placement : PlacementsOf(shape)) {
      ASSERT_TRUE(VerifyShape(shape, placement).ok());
      EXPECT_EQ(TryInterleavings(shape, placement, 3, &random), "")
          << CollectiveName(shape.collective) << " of " << shape.ranks;
    }
  }
}

// The oracle itself must be able to find what it is there to find.
TEST(RandomExecutionTest, FindsRacesThatNeedAnUnluckyInterleaving) {
  Random random(2);
  std::vector<RankProgram> programs =
      ProgramsOf(RingReduceScatter(RankOrder::Identity(4)));
  auto& steps = programs[1].chunk;
  const int wait = FindStep(steps, StepKind::kRecv, 2) - 1;
  const int send = steps[wait].waits_for;
  RemoveStep(&steps, wait);  // scratch reused while its send is in flight
  StepList(&steps).WaitStep(send);
  const Shape reuse =
      WithPrograms(RingReduceScatter(RankOrder::Identity(4)), programs);
  EXPECT_NE(TryInterleavings(reuse, Placement::kOutOfPlace, 200, &random), "");

  programs = ProgramsOf(DisseminationBarrier(4));
  SwapSteps(&programs[2].prologue, 1, 2);
  const Shape early = WithPrograms(DisseminationBarrier(4), programs);
  EXPECT_EQ(TryInterleavings(early, Placement::kOutOfPlace, 500, &random),
            "left the barrier before all arrived");

  programs = ProgramsOf(DirectAllGather(3));
  for (RankProgram& program : programs) program.epilogue.clear();
  const Shape freed = WithPrograms(DirectAllGather(3), programs);
  EXPECT_NE(TryInterleavings(freed, Placement::kOutOfPlace, 200, &random)
                .find("outside of its call"),
            std::string::npos);
}

TEST(VerifierMutationTest, WhateverIsAcceptedIsRightInEveryInterleavingTried) {
  Random random(20240229);
  int accepted = 0, refused = 0, refused_and_seen_wrong = 0;
  for (int i = 0; i < 2500; ++i) {
    const Shape shape = RandomShape(&random);
    const Shape mutant = Mutant(shape, &random);
    if (SameSteps(shape, mutant)) continue;
    for (Placement placement : PlacementsOf(shape)) {
      const Result<PlanFacts> facts = VerifyShape(mutant, placement);
      if (facts.ok()) {
        ++accepted;
        ASSERT_EQ(TryInterleavings(mutant, placement, 4, &random), "")
            << "mutant " << i << ", " << CollectiveName(shape.collective)
            << " of " << shape.ranks << " ranks";
        continue;
      }
      ++refused;
      if (i % 4 != 0) continue;
      const std::string problem =
          TryInterleavings(mutant, placement, 2, &random);
      if (!problem.empty()) ++refused_and_seen_wrong;
    }
  }
  std::cout << accepted << " accepted, " << refused << " refused, of a quarter "
            << "of which " << refused_and_seen_wrong << " were seen to fail\n";
  // Otherwise the test above would be empty, or the verifier needlessly harsh.
  EXPECT_GT(accepted, 200);
  EXPECT_GT(refused, 1000);
  EXPECT_GT(refused_and_seen_wrong, refused / 4 / 2);
}

}  // namespace
}  // namespace rondo
