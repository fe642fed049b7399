#include "perf/compare_mpi/worst_rank.h"

#include <algorithm>
#include <vector>

#include "transports/base/clock.h"

namespace rondo::perf {
namespace {

constexpr double kMeasurementUs = 15000;
// A trial is long enough to extrapolate from.
constexpr double kTrialUs = 1000;
constexpr int kMinCalls = 2;
constexpr int kMaxCalls = 20000;

}  // namespace

Result<double> WorstRankUs(MpiLibrary* mpi, int calls,
                           const std::function<Status()>& call) {
  RONDO_RETURN_IF_ERROR(mpi->Barrier());
  const int64_t start_ns = NowNs();
  for (int i = 0; i < calls; ++i) RONDO_RETURN_IF_ERROR(call());
  const auto elapsed_ns = static_cast<double>(NowNs() - start_ns);
  return mpi->Max(elapsed_ns / calls / 1e3);
}

Result<int> CallsPerMeasurement(MpiLibrary* mpi,
                                const std::function<Status()>& call) {
  for (int calls = 1;; calls = std::min(calls * 4, kMaxCalls)) {
    RONDO_ASSIGN_OR_RETURN(const double us, WorstRankUs(mpi, calls, call));
    if (us * calls < kTrialUs && calls < kMaxCalls) continue;
    return static_cast<int>(
        std::clamp<double>(kMeasurementUs / us, kMinCalls, kMaxCalls));
  }
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

}  // namespace rondo::perf
