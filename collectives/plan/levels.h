// Dependency levels: when each step can happen if every transfer takes one tick
// and everything else none.
//
// A transfer is a message, a put, a flag, or a step that touches another rank's
// space: each costs a latency. What follows a wait depends on what was waited
// for. Touches of peers' spaces do not depend on each other, since nothing but
// the order of the list holds them together; what a rank starts after them
// does.
//
// Thread-safety: pure function.
//
// Example:
//   Levels levels = LevelsOf(programs, MakeSchedule(programs));
#pragma once

#include <vector>

#include "collectives/plan/programs.h"
#include "collectives/plan/schedule.h"

namespace rondo {

struct Levels {
  // tick[rank][at]: the tick in which the step happens; -1: never reached. A
  // transfer of tick t is finished at tick t + 1.
  std::vector<std::vector<int>> tick;
  // Ticks until the last transfer is finished: the longest chain of transfers.
  int longest_chain = 0;
};

Levels LevelsOf(const Programs& programs, const Schedule& schedule);

// Whether a step reads or writes a space of another rank than `rank`.
bool TouchesPeer(const Step& step, int rank);

}  // namespace rondo
