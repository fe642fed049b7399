// Reads a configuration file: lines NAME=VALUE, and comments that start with #.
//
//   # Cluster defaults
//   RONDO_TIMEOUT_MS = 60000
//   DEBUG=info
//
// The prefix RONDO_ may be left out. Spaces around names and values do not
// count. A # starts a comment only at the beginning of a line, because values
// may contain one.
//
// Thread-safety: reentrant. Failure: files that are absent, not regular, larger
// than kMaxConfFileBytes, or that contain another kind of line are refused with
// the path and the line number.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "transports/base/status.h"

namespace rondo {

inline constexpr size_t kMaxConfFileBytes = size_t{1} << 20;

struct ConfSetting {
  std::string name;  // always with the prefix RONDO_
  std::string value;
  int line = 0;  // counted from 1
};

Result<std::vector<ConfSetting>> ReadConfFile(const std::string& path);

// The same for text that was already read; `path` is for messages.
Result<std::vector<ConfSetting>> ParseConfText(const std::string& text,
                                               const std::string& path);

}  // namespace rondo
