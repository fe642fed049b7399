// WriteTextFile: a report to a file, whole or not at all.
//
// The text goes to a temporary file beside the path, which is then renamed; a
// reader never sees half a report. CheckWritable finds a hopeless path before a
// long run rather than after it.
//
// Thread-safety: distinct paths are independent. Failure: errors name the path.
//
// Example:
//   RONDO_RETURN_IF_ERROR(CheckWritable(options.json_path));  // at the start
//   RONDO_RETURN_IF_ERROR(WriteTextFile(options.json_path, report));
#pragma once

#include <string>
#include <string_view>

#include "transports/base/status.h"

namespace rondo::perf {

// An empty path is fine: it means that no file is wanted.
Status CheckWritable(const std::string& path);

// Does nothing for an empty path.
Status WriteTextFile(const std::string& path, std::string_view text);

}  // namespace rondo::perf
