// CheckLayoutParameters: refuses what no layout can be made of.
//
// Thread-safety: a pure function. Ownership: only reads its arguments. Failure:
// kInvalidArgument that names the parameter, the value and what is accepted.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(std::vector<int> storage,
//                          CheckLayoutParameters(parameters, options));
#pragma once

#include <vector>

#include "optimizer/layout/layout_parameter.h"
#include "transports/base/status.h"

namespace rondo {

// For each parameter, the number of the one whose storage it uses: its own,
// unless it is tied.
Result<std::vector<int>> CheckLayoutParameters(
    const std::vector<LayoutParameter>& parameters,
    const LayoutOptions& options);

}  // namespace rondo
