// ExitStatus: what `rondo` tells the shell, the same for every command.
//
// Thread-safety: constants.
//
// Example:
//   return wrong > 0 ? kExitFailed : kExitOk;
#pragma once

#include <string_view>

namespace rondo::perf {

enum ExitStatus : int {
  kExitOk = 0,
  kExitFailed = 1,  // wrong elements, an error while running, a killed rank
  kExitUsage = 2,   // an option or argument is not accepted; nothing ran
  kExitSlower = 2,  // `rondo perf --compare`: a size got slower
};

// For the end of every --help.
inline constexpr std::string_view kExitStatusHelp =
    "Exit status: 0 all is well; 1 wrong elements, an error or a killed rank; "
    "2 an\noption or argument is not accepted (nothing ran).";

}  // namespace rondo::perf
