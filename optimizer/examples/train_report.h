// What a training run shows to people and to programs.
//
// Thread-safety: pure functions. Ownership: none taken. Failure: none; losses
// that are not finite are null in JSON, which has no word for them.
#pragma once

#include <string>

#include "optimizer/examples/train.h"

namespace rondo {

// Bytes per rank by class: one line per rank, and a total.
std::string BytesTable(const TrainResult& result);

// The result as a JSON document.
std::string TrainJson(const TrainOptions& options, const TrainResult& result);

}  // namespace rondo
