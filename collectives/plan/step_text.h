// One step, block or flag as words: shared by the printer and by the verifier's
// errors, so that an error shows a step exactly as the printed plan does.
//
// Thread-safety: pure functions. Nothing needs to be valid to be printed.
//
// Example:
//   StepToText(step, 2);  // "send   output[2] -> rank 3 (message 0)"
#pragma once

#include <string>

#include "collectives/plan/plan.h"

namespace rondo {

// One step of `rank` on one line; the kind is padded so that lists line up.
std::string StepToText(const Step& step, int rank);

// "output[2]", "output[0..6 by 2]", "scratch[1] (block 4)", and for a space of
// another rank than `rank` "input[1] of rank 3".
std::string BlockToText(const BlockRef& block, int rank);

// "0 (ready)", "1 (done)", "2".
std::string FlagToText(int flag);

// "1 rank", "3 ranks".
std::string CountToText(long long count, const std::string& noun);

}  // namespace rondo
