// The --ranks option: N local processes, or whatever a launcher has started.
//
// With --ranks N the command starts itself N times and waits; each of those
// runs without the option, as one rank. Without it this process is one rank: of
// the launcher that started it (mpirun, srun, torchrun, RONDO_ variables), or
// alone.
//
// Thread-safety: one thread. Failure: an ExitStatus, with the reason on stderr.
//
// Example:
//   AddRanksOption(app, &options.local_ranks);
//   return RunAsRanks(invocation, options.local_ranks, [&] { return Body(); });
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "perf/cli/command.h"

namespace rondo::perf {

inline constexpr int kMaxLocalRanks = 1024;

CLI::Option* AddRanksOption(CLI::App* app, int* local_ranks);

// `local_ranks` 0: calls `body`, which is one rank's part.
int RunAsRanks(const Invocation& invocation, int local_ranks,
               const std::function<int()>& body);

// `arguments` without "--ranks N" or "--ranks=N".
std::vector<std::string> WithoutRanksOption(
    const std::vector<std::string>& arguments);

}  // namespace rondo::perf
