// LossCurveSvg: the loss of a training run as a picture.
//
// Plain SVG without scripts or style sheets, so that browsers, editors and code
// hosts all show it: axes with round numbers, a title, and one line.
//
// Thread-safety: a pure function. Ownership: none taken. Failure: none; losses
// that are not finite leave a gap, and no losses at all leave the axes.
//
// Example:
//   RONDO_RETURN_IF_ERROR(WriteFileAtomically(
//       "loss.svg", LossCurveSvg(losses, "4 ranks, 200 steps")));
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rondo {

// losses[i] is drawn at step i + 1. The title may hold any text.
std::string LossCurveSvg(std::span<const double> losses,
                         std::string_view title);

}  // namespace rondo
