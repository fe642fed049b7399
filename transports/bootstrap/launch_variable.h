// Variables of a launcher, read as numbers and texts; for launch.cc and
// meeting.cc.
//
// Thread-safety: stateless. Failure: names variable, value and range.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto rank, NumberOf(environment, "RANK", 0));
//   if (!rank) return NotThisLauncher();
#pragma once

#include <optional>
#include <string>

#include "transports/base/environment.h"
#include "transports/base/status.h"

namespace rondo {

// The value; nothing when the variable is not set or empty.
std::optional<std::string> TextOf(const EnvironmentReader& environment,
                                  const std::string& name);

// A whole number from `minimum` to 2^20; nothing when not set or empty. -1
// means "not set" for Rondo's own variables.
Result<std::optional<int>> NumberOf(const EnvironmentReader& environment,
                                    const std::string& name, int minimum);

}  // namespace rondo
