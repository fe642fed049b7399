#include "transports/bootstrap/rank_list.h"

#include <algorithm>

namespace rondo {

namespace {

// Ranges that an error message shows before it only counts.
constexpr size_t kMaxRanges = 16;

}  // namespace

std::string FormatRanks(const std::vector<int>& ranks) {
  if (ranks.empty()) return "no rank";
  std::vector<std::string> ranges;
  size_t shown = 0;
  while (shown < ranks.size() && ranges.size() < kMaxRanges) {
    size_t last = shown;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    // "1 and 2" reads better than "1-2".
    if (last == shown + 1) last = shown;
    std::string range = std::to_string(ranks[shown]);
    if (last > shown) range += "-" + std::to_string(ranks[last]);
    ranges.push_back(std::move(range));
    shown = last + 1;
  }
  std::string out = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranges.size(); ++i) {
    const bool last = i + 1 == ranges.size() && shown == ranks.size();
    if (i > 0) out += last ? " and " : ", ";
    out += ranges[i];
  }
  if (shown < ranks.size()) {
    out += ", ... (" + std::to_string(ranks.size() - shown) + " more)";
  }
  return out;
}

}  // namespace rondo
