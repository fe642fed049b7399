// Paths with placeholders, so that many processes write different files:
// "rondo.%h.%p.log" becomes "rondo.node7.4242.log".
//
// Thread-safety: pure functions. Failure: a % that is not followed by a known
// letter is refused with the letters that are accepted. "%%" stands for "%".
//
// Example:
//   ExpandPathPattern("trace.%r.json", {{'r', std::to_string(rank)}});
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "transports/base/status.h"

namespace rondo {

Result<std::string> ExpandPathPattern(
    std::string_view pattern, const std::map<char, std::string>& values);

// The values that every file name may use: %h host name, %p process id.
std::map<char, std::string> ProcessPathValues();

}  // namespace rondo
