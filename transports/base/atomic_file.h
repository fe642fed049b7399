// Writing a file so that readers see the old one or the whole new one.
//
// Thread-safety: reentrant; of several writers of one path the last wins.
// Failure: an error that names the path; the old file then stays as it was and
// nothing else is left behind.
#pragma once

#include <string>
#include <string_view>

#include "transports/base/status.h"

namespace rondo {

// Writes a temporary file beside `path` and renames it. It does not wait for
// the disk: after a power failure the old content may be back.
Status WriteFileAtomically(const std::string& path, std::string_view content);

}  // namespace rondo
