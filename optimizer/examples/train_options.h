// What Train() accepts: options checked one by one, and compared over ranks.
//
// Thread-safety: pure functions. Ownership: none taken. Failure:
// kInvalidArgument with the option, its value and what is accepted.
#pragma once

#include "optimizer/agreement/agreement.h"
#include "optimizer/examples/train.h"
#include "transports/base/status.h"

namespace rondo {

Status CheckTrainOptions(const TrainOptions& options);

// Adds the options that must be the same on all ranks and that nothing else
// compares.
void AddTrainOptions(const TrainOptions& options, Agreement* agreement);

}  // namespace rondo
