// One order in which the steps of all ranks can be executed, or the steps at
// which the ranks are stuck.
//
// The rules are the pessimistic ones of plan.h: a send is finished only once
// its recv was posted, and a recv once its send was. Waiting is the only thing
// that blocks and what is waited for never becomes untrue, so either every
// order gets to the end or none does: trying one decides for all.
//
// Thread-safety: pure function. Cost: linear in the steps.
//
// Example:
//   Schedule schedule = MakeSchedule(programs);
//   if (!schedule.stuck.empty()) return DescribeDeadlock(...);
#pragma once

#include <string>
#include <vector>

#include "collectives/plan/programs.h"

namespace rondo {

struct Schedule {
  std::vector<StepId> order;
  std::vector<StepId> stuck;  // one per rank that does not reach its end
};

Schedule MakeSchedule(const Programs& programs);

// Where every stuck rank waits, and for what.
std::string DescribeDeadlock(const Programs& programs,
                             const Schedule& schedule);

}  // namespace rondo
