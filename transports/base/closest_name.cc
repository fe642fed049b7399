#include "transports/base/closest_name.h"

#include <algorithm>
#include <numeric>

namespace rondo {

int EditDistance(std::string_view a, std::string_view b) {
  // One row of the table at a time: distance[j] is that of the first i
  // characters of `a` to the first j of `b`.
  std::vector<int> distance(b.size() + 1);
  std::iota(distance.begin(), distance.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = distance[0];
    distance[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = distance[j];
      distance[j] =
          std::min({substitute, distance[j] + 1, distance[j - 1] + 1});
    }
  }
  return distance[b.size()];
}

std::string ClosestName(std::string_view name,
                        const std::vector<std::string>& candidates,
                        int max_distance) {
  std::string closest;
  int best = max_distance + 1;
  for (const std::string& candidate : candidates) {
    // A difference in length is a lower bound: it keeps the work small when the
    // name comes from outside and is very long.
    const size_t longer = std::max(name.size(), candidate.size());
    const size_t shorter = std::min(name.size(), candidate.size());
    if (longer - shorter >= static_cast<size_t>(best)) continue;
    const int distance = EditDistance(name, candidate);
    if (distance >= best) continue;
    best = distance;
    closest = candidate;
  }
  return closest;
}

}  // namespace rondo
