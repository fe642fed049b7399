#include "optimizer/step/norm_exchange.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace rondo {

static_assert(std::is_trivially_copyable_v<ExactSum>);

Result<double> SumOverRanks(Communicator* communicator, const ExactSum& own) {
  std::vector<ExactSum> sums(communicator->world_size());
  RONDO_RETURN_IF_ERROR(communicator->AllGather(
      &own, sums.data(), sizeof(ExactSum), DataType::kUint8));
  ExactSum total;
  for (const ExactSum& sum : sums) total.Merge(sum);
  return total.Result();
}

double ClipCoefficient(double norm, double max_norm) {
  constexpr double kEpsilon = 1e-6;
  if (max_norm <= 0) return 1;
  return std::min(1.0, max_norm / (norm + kEpsilon));
}

}  // namespace rondo
