// RunLocalRanks: starts one program as several ranks on this host and waits for
// all of them, as a small mpirun would.
//
// Each rank gets RONDO_RANK, RONDO_WORLD_SIZE, RONDO_LOCAL_RANK,
// RONDO_LOCAL_WORLD_SIZE and a RONDO_RENDEZVOUS_FILE in a private temporary
// directory, which is removed at the end however the run ends. SIGINT, SIGTERM
// and SIGHUP are passed on. When a rank fails, the others get a grace time to
// find that out by themselves and say so; then they are ended. Ranks die with
// this process, even if it is killed.
//
// Ranks bound their own waits (RONDO_TIMEOUT_MS and others), so this waits as
// long as they run.
//
// Thread-safety: call it while the process has one thread; it blocks signals
// meanwhile. Ownership: none taken. Failure: a Status when nothing could be
// started; how ranks ended is in the outcome.
//
// Example:
//   LocalRanks launch{.ranks = 4, .program = "/proc/self/exe",
//                     .arguments = {"rondo", "perf", "all_gather"}};
//   RONDO_ASSIGN_OR_RETURN(LocalOutcome outcome, RunLocalRanks(launch));
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "transports/base/status.h"

namespace rondo::perf {

struct LocalRanks {
  int ranks = 1;
  std::string program;                 // path of the executable
  std::vector<std::string> arguments;  // argv, with the program's name first
  // The ranks' environment; the RONDO_ variables above are put into it.
  std::map<std::string, std::string> environment;
  int64_t grace_ms = 10000;
  // Told at once what a person should know: "rank 2 was killed by signal 9".
  std::function<void(const std::string& message)> report =
      [](const std::string&) {};
};

struct LocalOutcome {
  // The worst of all ranks: 0, 1 or 2. A signal, and any other status, is 1.
  int exit_status = 0;
};

Result<LocalOutcome> RunLocalRanks(const LocalRanks& launch);

}  // namespace rondo::perf
