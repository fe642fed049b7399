#include "perf/step/turns.h"

#include <algorithm>

#include "perf/bench/gather.h"
#include "transports/base/clock.h"

namespace rondo::perf {
namespace {

// A turn is at least so long that neither the clock nor ranks that leave the
// barrier one after the other matter.
constexpr double kTurnMs = 5;
constexpr int kMaxCalls = 1000;

// Mean milliseconds of one call, on the slowest rank.
Result<double> Turn(Communicator* communicator, const Contender& contender,
                    int calls) {
  RONDO_RETURN_IF_ERROR(communicator->Barrier());
  const int64_t start_ns = NowNs();
  for (int i = 0; i < calls; ++i) {
    RONDO_RETURN_IF_ERROR(contender.call().WithContext(contender.name));
  }
  const double mine_ms = static_cast<double>(NowNs() - start_ns) / calls / 1e6;
  RONDO_ASSIGN_OR_RETURN(const std::vector<double> all_ms,
                         GatherValues(communicator, mine_ms));
  return *std::max_element(all_ms.begin(), all_ms.end());
}

// The same on all ranks, because the time is.
int CallsFor(double call_ms) {
  if (call_ms <= 0) return kMaxCalls;
  return static_cast<int>(std::clamp<double>(kTurnMs / call_ms, 1, kMaxCalls));
}

}  // namespace

double TurnTimes::median_ms() const {
  if (round_ms.empty()) return 0;
  std::vector<double> sorted = round_ms;
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[middle];
  return (sorted[middle - 1] + sorted[middle]) / 2;
}

Result<std::vector<TurnTimes>> TakeTurns(
    Communicator* communicator, const TurnOptions& options,
    const std::vector<Contender>& contenders) {
  std::vector<TurnTimes> times(contenders.size());
  std::vector<int> calls(contenders.size(), 1);
  for (int round = -options.warmup_rounds; round < options.rounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      RONDO_ASSIGN_OR_RETURN(const double ms,
                             Turn(communicator, contenders[i], calls[i]));
      if (round < 0) {
        calls[i] = CallsFor(ms);
      } else {
        times[i].round_ms.push_back(ms);
      }
    }
  }
  return times;
}

}  // namespace rondo::perf
