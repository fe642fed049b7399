// Shapes written by hand, for the tests of the verifier: the direct algorithms,
// in which ranks read and write each other's spaces, and tools to break shapes.
//
// Thread-safety: pure functions.
//
// Example:
//   auto programs = ProgramsOf(DirectAllGather(3));
//   RemoveStep(&programs[1].chunk, 0);
//   VerifyShape(WithPrograms(DirectAllGather(3), programs));
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "collectives/plan/plan.h"

namespace rondo {

// Every rank copies its peers' inputs.
Shape DirectAllGather(int ranks);
// Every rank sums its block of all inputs.
Shape DirectReduceScatter(int ranks);
// Every rank sums, updates, and writes its block into all outputs.
Shape DirectShardedStep(int ranks);
// Every rank puts its input into its peers' outputs.
Shape PushAllGather(int ranks);

std::vector<RankProgram> ProgramsOf(const Shape& shape);
Shape WithPrograms(const Shape& shape, std::vector<RankProgram> programs);

// A shape of hand-written programs.
Shape ByHand(Collective collective, int ranks,
             std::function<RankProgram(int rank)> for_rank);

BlockRef In(int owner, int index);
BlockRef Out(int owner, int index);
// Scratch block `index`, holding logical block `block`.
BlockRef Scratch(int owner, int index, int block);

// What the proof says of `shape` once `mutate` has changed its programs:
// "accepted", or the error.
std::string ProblemOf(const Shape& shape,
                      std::function<void(std::vector<RankProgram>*)> mutate);
// The same, of one rank's chunk steps.
std::string ProblemOfChunk(const Shape& shape, int rank,
                           std::function<void(std::vector<Step>*)> mutate);

// Both keep every wait on the transfer that it waited for; a wait for a removed
// transfer is removed with it.
void RemoveStep(std::vector<Step>* steps, int index);
void SwapSteps(std::vector<Step>* steps, int a, int b);

// The index of the nth step of that kind, from 0; -1 when there are fewer.
int FindStep(const std::vector<Step>& steps, StepKind kind, int nth = 0);

}  // namespace rondo
