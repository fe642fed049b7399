// The version of Rondo that the command was built from, as text.
//
// Thread-safety: pure. Failure: none.
//
// Example:  fmt::print("rondo {}\n", VersionText());  // "rondo 0.1.0"
#pragma once

#include <string>

namespace rondo::perf {

std::string VersionText();

}  // namespace rondo::perf
