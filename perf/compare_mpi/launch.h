// Starting a comparison program under its MPI library's launcher.
//
// Thread-safety: one thread; BecomeLauncher() replaces the process. Failure: a
// launcher that cannot be started is kInvalidUsage, with the names tried.
//
// Example:
//   if (!IsRank(flavor, options, environment)) {
//     return ReportError(BecomeLauncher(flavor, options, arguments));
//   }
#pragma once

#include <string>
#include <vector>

#include "perf/compare_mpi/mpi_flavor.h"
#include "perf/compare_mpi/options.h"
#include "transports/base/environment.h"
#include "transports/base/status.h"

namespace rondo::perf {

// What is started when --ranks is not given.
inline constexpr int kDefaultComparedRanks = 2;

// Whether this process is a rank already.
bool IsRank(MpiFlavor flavor, const CompareOptions& options,
            const EnvironmentReader& environment);

// The command that starts `program` with `arguments` as ranks, the launcher
// `launcher` first. The ranks get --as-rank, so that a wrong launcher cannot
// make them start launchers in turn, and --ranks, which they check.
std::vector<std::string> LauncherCommand(
    MpiFlavor flavor, const std::string& launcher, int ranks, bool superuser,
    const std::string& program, const std::vector<std::string>& arguments);

// The command as a person would have typed it.
std::vector<std::string> WithoutRankMark(std::vector<std::string> words);

// Turns this process into the launcher of the ranks. Returns only when it
// cannot.
Status BecomeLauncher(MpiFlavor flavor, const CompareOptions& options,
                      const std::vector<std::string>& arguments);

}  // namespace rondo::perf
