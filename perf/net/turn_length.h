// How many messages one turn of a measurement has.
//
// Found by trials that grow until one is long enough to scale from. A plugin
// may stall once in a trial, as a socket does whose peer delays an
// acknowledgement by 40 ms; so the usual time of a message counts, as far as
// it is known, and stalls only bound the result.
//
// Thread-safety: pure functions. Failure: none; without a value the trial was
// too short.
//
// Example:
//   const std::optional<int64_t> messages = MessagesOfTurn(trial, 2e8, 16);
//   if (!messages) trial.messages *= kTrialGrowth;
#pragma once

#include <cstdint>
#include <optional>

namespace rondo::perf {

// From trial to trial.
inline constexpr int64_t kTrialGrowth = 8;
inline constexpr int64_t kMostMessages = 10000000;

struct Trial {
  int64_t messages = 0;
  double took_ns = 0;
  // What it would have taken without stalls; at most took_ns.
  double usual_ns = 0;
};

// So many that a turn usually takes `wanted_ns`, and at least `fewest`.
std::optional<int64_t> MessagesOfTurn(const Trial& trial, double wanted_ns,
                                      int64_t fewest);

}  // namespace rondo::perf
