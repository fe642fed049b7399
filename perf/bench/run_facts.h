// Facts about this run: who takes part, when, and in which environment.
//
// Thread-safety: reads the clock and what it is given. Failure: the
// communicator's errors.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(run.ranks, GatherRankFacts(communicator));
#pragma once

#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "perf/bench/result.h"
#include "perf/cli/command.h"

namespace rondo::perf {

// Collective: process id, host name and host index of every rank.
Result<std::vector<RankFacts>> GatherRankFacts(Communicator* communicator);

// "2031-01-31 23:59:59", local time.
std::string NowText();

// "NAME=VALUE" of the variables that steer Rondo (RONDO_) and UCX (UCX_).
std::vector<std::string> SteeringVariables(
    const EnvironmentReader& environment);

// The command as typed, program first.
std::vector<std::string> CommandWords(const Invocation& invocation);

}  // namespace rondo::perf
