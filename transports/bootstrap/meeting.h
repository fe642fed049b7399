// ChooseMeeting: where the ranks of a launch meet; see launch.h.
//
// Thread-safety: stateless. Failure: kInvalidArgument that names the variable,
// or says which one to set.
//
// Example: RONDO_RETURN_IF_ERROR(ChooseMeeting(environment, &info));
#pragma once

#include "transports/base/environment.h"
#include "transports/base/status.h"
#include "transports/bootstrap/launch.h"

namespace rondo {

// Fills info->meeting, and adds to info->notes, from the rest of `info`.
Status ChooseMeeting(const EnvironmentReader& environment, LaunchInfo* info);

}  // namespace rondo
