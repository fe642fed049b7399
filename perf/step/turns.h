// TakeTurns: several ways of doing the same thing, timed in turns.
//
// A machine that others use as well changes its speed by the minute, so each
// round runs every contender once, all ranks after a barrier, and the time of
// the slowest rank counts; medians over the rounds are then comparable. Short
// calls are repeated within a turn.
//
// Thread-safety: one thread. Ownership: none. Failure: the first error of a
// contender or of the communicator. Collective: every rank passes the same
// contenders.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(
//       const std::vector<TurnTimes> times,
//       TakeTurns(communicator, {.rounds = 5}, {{"copy", [&] { ... }}}));
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "transports/base/status.h"

namespace rondo::perf {

struct Contender {
  std::string name;
  std::function<Status()> call;
};

struct TurnOptions {
  int warmup_rounds = 1;
  int rounds = 7;
};

// Of one contender.
struct TurnTimes {
  std::vector<double> round_ms;  // of one call, on the slowest rank

  double median_ms() const;  // 0 without rounds
};

Result<std::vector<TurnTimes>> TakeTurns(
    Communicator* communicator, const TurnOptions& options,
    const std::vector<Contender>& contenders);

}  // namespace rondo::perf
