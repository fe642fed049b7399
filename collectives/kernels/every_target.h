// Runs a test on every vector unit that this machine has and the build
// contains.
//
// Thread-safety: none; the choice is one for the process. Ownership: none.
// Failure: none; the best target is chosen again when the call returns.
//
// Example:
//   ForEveryTarget([](const std::string& target) {
//     SCOPED_TRACE(target);
//     EXPECT_EQ(Sum(data), 6);
//   });
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/kernels/highway_targets.h"
// Highway reads the targets when it is first included.
#include "hwy/targets.h"

namespace rondo {

// Numbers as in hwy/targets.h; the scalar fallback is among them.
inline std::vector<int64_t> EveryTarget() {
  // The fallback is always compiled, but not among the supported ones.
  constexpr int64_t kFallback = HWY_TARGETS & (HWY_SCALAR | HWY_EMU128);
  std::vector<int64_t> targets;
  const int64_t supported = (hwy::SupportedTargets() & HWY_TARGETS) | kFallback;
  for (int64_t rest = supported; rest != 0; rest &= rest - 1) {
    targets.push_back(rest & -rest);
  }
  return targets;
}

template <typename Function>
void ForEveryTarget(Function function) {
  for (int64_t target : EveryTarget()) {
    hwy::GetChosenTarget().Update(target);
    function(std::string(hwy::TargetName(target)));
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace rondo
