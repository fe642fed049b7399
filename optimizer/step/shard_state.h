// ShardState: this rank's part of an optimizer's state.
//
// One fp32 master copy of the parameters and the rule's arrays, for the tiles
// of all buckets that this rank owns, end to end in the order of the buckets
// (LayoutBucket::state_offset). Padding is part of the arrays and stays zero.
// The sums of gradients lie beside them once a step has needed two passes.
//
// Thread-safety: one thread at a time. Ownership: owns the arrays. Failure:
// kResourceExhausted with the number of bytes.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(ShardState state,
//                          ShardState::Allocate(layout.state_count(), 2));
//   state.master.data()[bucket.state_offset] = 1;
#pragma once

#include <cstddef>
#include <vector>

#include "optimizer/step/float_array.h"
#include "transports/base/status.h"

namespace rondo {

struct ShardState {
  FloatArray master;
  std::vector<FloatArray> arrays;  // as many as the rule keeps
  FloatArray gradient;             // empty until a step needs it

  static Result<ShardState> Allocate(size_t count, int array_count);
  // Makes room for `gradient`, where there is none yet.
  Status KeepGradient();
};

}  // namespace rondo
