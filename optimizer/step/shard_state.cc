#include "optimizer/step/shard_state.h"

namespace rondo {

Result<ShardState> ShardState::Allocate(size_t count, int array_count) {
  ShardState state;
  RONDO_ASSIGN_OR_RETURN(state.master, FloatArray::Allocate(count, 0));
  for (int i = 0; i < array_count; ++i) {
    RONDO_ASSIGN_OR_RETURN(FloatArray array,
                           FloatArray::Allocate(count, i + 1));
    state.arrays.push_back(std::move(array));
  }
  return state;
}

Status ShardState::KeepGradient() {
  if (gradient.size() == master.size()) return Status::Ok();
  const int place = static_cast<int>(arrays.size()) + 1;
  RONDO_ASSIGN_OR_RETURN(gradient, FloatArray::Allocate(master.size(), place));
  return Status::Ok();
}

}  // namespace rondo
