// Runs a test on every vector unit that this machine has and the build
// contains.
//
// Thread-safety: none; the choice is one for the process. Ownership: none.
// Failure: none; the best target is chosen again when the call returns.
//
// Example:
//   ForEveryVectorUnit([](const std::string& unit) {
//     SCOPED_TRACE(unit);
//     EXPECT_EQ(TileSquaredSum(tile, count).sum, want);
//   });
#pragma once

#include <cstdint>
#include <string>

#include "collectives/kernels/highway_targets.h"
// Highway reads the targets when it is first included.
#include "hwy/targets.h"

namespace rondo {

template <typename Function>
void ForEveryVectorUnit(Function function) {
  // The fallback is always compiled, but not among the supported ones.
  constexpr int64_t kFallback = HWY_TARGETS & (HWY_SCALAR | HWY_EMU128);
  const int64_t supported = (hwy::SupportedTargets() & HWY_TARGETS) | kFallback;
  for (int64_t rest = supported; rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    hwy::GetChosenTarget().Update(target);
    function(std::string(hwy::TargetName(target)));
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace rondo
