// Rondo's own collectives for a step of separate passes.
//
// Thread-safety: as the communicator. Ownership: refer to the communicator,
// which must outlive them. Failure: the communicator's errors.
//
// Example:
//   StepCollectives collectives =
//       RondoCollectives(communicator, DataType::kFloat32,
//                        ReduceWay::kReduceScatter);
#pragma once

#include "collectives/communicator.h"
#include "perf/step/separate_step.h"

namespace rondo::perf {

// How gradients come into an fp32 shard.
enum class ReduceWay {
  kReduceScatter,  // Communicator::ReduceScatter; of fp32 gradients only
  kReduceUpdate,   // a functor that sums any type in fp32, and streams it
};

StepCollectives RondoCollectives(Communicator* communicator,
                                 DataType gradient_type, ReduceWay way);

}  // namespace rondo::perf
