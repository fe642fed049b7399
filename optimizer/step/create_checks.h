// What ranks compare before they make a sharded optimizer together.
//
// Thread-safety: pure but for the communicator. Ownership: none. Failure: the
// same error on every rank, naming rank, field, and the first parameter that
// differs.
//
// Example:
//   RONDO_RETURN_IF_ERROR(CheckOptimizersAgree(comm, {...}));
#pragma once

#include <cstdint>

#include "collectives/communicator.h"
#include "collectives/kernels/data_type.h"
#include "optimizer/kernels/update_rule.h"
#include "optimizer/layout/model_layout.h"
#include "transports/base/status.h"

namespace rondo {

// What one rank brings. Layout and rule may be null where `own` is an error,
// which then reaches all ranks.
struct OptimizerClaim {
  Status own;
  const ModelLayout* layout = nullptr;
  const UpdateRule* rule = nullptr;
  DataType gradient_type = DataType::kFloat32;
  bool average_gradients = true;
  int schedule = 0;
  const void* parameters = nullptr;  // initial values
};

Status CheckOptimizersAgree(Communicator* communicator,
                            const OptimizerClaim& claim);

// Everything that can be wrong with a rule and this rank's buffer alone.
Status CheckOwnClaim(const OptimizerClaim& claim, int rank);

}  // namespace rondo
