// The name of this host, for log lines and file names.
#pragma once

#include <string>

namespace rondo {

// Up to the first dot, as NCCL prints it; "unknown" when the system has none.
// Thread-safe.
std::string HostName();

}  // namespace rondo
