// MpiFlavor: which MPI library a comparison program was built with, and how
// that library's launcher is called.
//
// Thread-safety: pure functions. Failure: none.
//
// Example:
//   FlavorName(MpiFlavor::kOpenMpi);  // "Open MPI"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rondo::perf {

enum class MpiFlavor { kOpenMpi, kMpich };

std::string_view FlavorName(MpiFlavor flavor);

// "vs_openmpi": the program that compares with it.
std::string_view ProgramName(MpiFlavor flavor);

// The launcher's possible names, the surest first: a plain `mpirun` may be
// another library's.
std::vector<std::string> LauncherPrograms(MpiFlavor flavor);

// The variable that its launcher gives to every rank.
std::string_view RankVariable(MpiFlavor flavor);

// The launcher's arguments that start `ranks` processes on this host, also more
// of them than it has cores, and also for the superuser.
std::vector<std::string> LauncherArguments(MpiFlavor flavor, int ranks,
                                           bool superuser);

}  // namespace rondo::perf
