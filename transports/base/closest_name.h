// "Did you mean ...?": finds the known name that a misspelt one resembles.
//
// Thread-safety: pure functions.
//
// Example:
//   ClosestName("RONDO_DEBGU", names, /*max_distance=*/3);  // "RONDO_DEBUG"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rondo {

// Fewest single-character insertions, deletions and substitutions (Levenshtein)
// that turn `a` into `b`.
int EditDistance(std::string_view a, std::string_view b);

// The candidate nearest to `name`, the first of equally near ones; empty when
// none is within `max_distance`.
std::string ClosestName(std::string_view name,
                        const std::vector<std::string>& candidates,
                        int max_distance);

}  // namespace rondo
