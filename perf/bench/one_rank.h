// RunOneRank: one rank's whole life inside a command.
//
// Joins the communicator of the environment, runs the body, and turns the
// result into an ExitStatus. A rank that fails aborts the communicator before
// it leaves, so that no other rank waits for it until a deadline.
//
// Thread-safety: one thread. Failure: the error goes to stderr, with the rank.
//
// Example:
//   return RunOneRank([&](Communicator* communicator) -> Result<bool> {
//     return wrong == 0;
//   });
#pragma once

#include <functional>

#include "collectives/communicator.h"
#include "transports/base/status.h"

namespace rondo::perf {

// The body's false, "it ran, and the result is wrong", is kExitFailed.
int RunOneRank(
    const std::function<Result<bool>(Communicator* communicator)>& body);

}  // namespace rondo::perf
