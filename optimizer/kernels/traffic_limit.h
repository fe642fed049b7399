// MoveAsUpdate: the loads and stores of an update, and next to no arithmetic.
//
// What the benchmark holds the update against, for two float gradients and two
// bfloat16 outputs: each gradient is read, the master parameters and both
// states are read and written, each output is streamed, each once. The numbers
// it leaves behind have no meaning.
//
// Thread-safety: safe on disjoint arrays. Ownership: none taken.
// Failure: none; outputs start at cache lines, `count` is a multiple of 128.
//
// Example:
//   MoveAsUpdate({.gradients = {g0, g1}, .arrays = {p, m, v},
//                 .outputs = {out0, out1}, .count = count});
//   FenceStreamedStores();
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo {

struct UpdateTraffic {
  const float* gradients[2];
  float* arrays[3];
  uint8_t* outputs[2];
  size_t count;
};

void MoveAsUpdate(const UpdateTraffic& traffic);

}  // namespace rondo
