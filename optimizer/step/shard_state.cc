#include "optimizer/step/shard_state.h"

namespace rondo {

Result<ShardState> ShardState::Allocate(size_t count, int array_count) {
  ShardState state;
  RONDO_ASSIGN_OR_RETURN(state.master, FloatArray::Allocate(count));
  for (int i = 0; i < array_count; ++i) {
    RONDO_ASSIGN_OR_RETURN(FloatArray array, FloatArray::Allocate(count));
    state.arrays.push_back(std::move(array));
  }
  return state;
}

}  // namespace rondo
