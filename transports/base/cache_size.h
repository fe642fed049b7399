// How large the last cache is that a core shares with its neighbours.
//
// Read from /sys, because the C library asks the processor, which in a virtual
// machine tells of the whole socket.
//
// Thread-safety: reentrant. Failure: files that are absent or that do not read
// as expected give a common size.
//
// Example:  if (bytes > LastCacheBytes("/sys/devices/system/cpu/cpu0/cache"))
#pragma once

#include <cstddef>
#include <string>

namespace rondo {

// The largest data or unified cache below `directory`, which has a folder
// "index0", "index1", ... for each.
size_t LastCacheBytes(const std::string& directory);

}  // namespace rondo
