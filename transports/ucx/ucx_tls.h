// UCX_TLS expressions: which transports UCX may use, as text.
//
// An expression lists transports ("tcp,posix"), or those to leave out ("^cma");
// empty and "all" mean everything. Aliases stand for families: "sm" and "shm"
// for shared memory of every kind, "mm" for mapped segments.
//
// Thread-safety: pure functions. Failure: kResourceExhausted when nothing is
// left.
//
// Example:
//   ExcludePosix("sm,tcp");  // "sysv,cma,tcp"
#pragma once

#include <string>
#include <string_view>

#include "transports/base/status.h"

namespace rondo {

// Without POSIX shared memory; System V segments stay.
Result<std::string> ExcludePosix(std::string_view transports);

// Without shared memory of any kind.
Result<std::string> ExcludeSharedMemory(std::string_view transports);

// Whether POSIX shared memory may be used.
bool AllowsPosix(std::string_view transports);

// Whether mapped segments of any kind (posix, sysv, xpmem) may be used.
bool AllowsMappedSegments(std::string_view transports);

}  // namespace rondo
