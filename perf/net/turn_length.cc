#include "perf/net/turn_length.h"

#include <algorithm>

namespace rondo::perf {
namespace {

// A trial of a quarter is long enough to scale from.
constexpr double kScale = 4;
// How many times as long as wanted stalls may make a turn.
constexpr double kStalled = 4;

}  // namespace

std::optional<int64_t> MessagesOfTurn(const Trial& trial, double wanted_ns,
                                      int64_t fewest) {
  const double took_ns = std::max(trial.took_ns, 1.0);
  const double usual_ns = std::clamp(trial.usual_ns, 1.0, took_ns);
  const bool enough = usual_ns * kScale >= wanted_ns ||
                      took_ns >= wanted_ns * kStalled ||
                      trial.messages * kTrialGrowth > kMostMessages;
  if (!enough) return std::nullopt;
  const auto tried = static_cast<double>(trial.messages);
  const double scaled = std::min(tried * wanted_ns / usual_ns,
                                 tried * wanted_ns * kStalled / took_ns);
  const auto most = static_cast<double>(kMostMessages);
  return std::max(static_cast<int64_t>(std::min(scaled, most)),
                  std::min(fewest, kMostMessages));
}

}  // namespace rondo::perf
