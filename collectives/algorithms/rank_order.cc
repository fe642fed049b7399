#include <algorithm>
#include <numeric>

#include "collectives/algorithms/algorithms.h"

namespace rondo {

RankOrder RankOrder::Identity(int ranks) {
  RankOrder order;
  order.at.resize(std::max(ranks, 0));
  std::iota(order.at.begin(), order.at.end(), 0);
  return order;
}

int RankOrder::PositionOf(int rank) const {
  const auto found = std::find(at.begin(), at.end(), rank);
  return found == at.end() ? -1 : static_cast<int>(found - at.begin());
}

bool RankOrder::IsPermutation() const {
  std::vector<bool> seen(at.size(), false);
  for (int rank : at) {
    if (rank < 0 || rank >= ranks() || seen[rank]) return false;
    seen[rank] = true;
  }
  return true;
}

}  // namespace rondo
