// FormatRanks: ranks as people write them.
//
// Thread-safety: stateless. Failure: none; an empty list is "no rank".
//
// Example: FormatRanks({1, 2, 3, 7}) is "ranks 1-3 and 7".
#pragma once

#include <string>
#include <vector>

namespace rondo {

// `ranks` in ascending order. A long list is cut: "ranks 0, 2, ... (31 more)".
std::string FormatRanks(const std::vector<int>& ranks);

}  // namespace rondo
