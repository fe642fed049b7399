// The parameters of real models, as a layout wants them.
//
// For measurements and tests that should meet the sizes that users have: two
// large embeddings, many matrices, many short vectors.
//
// Thread-safety: pure functions. Ownership: the caller's. Failure: none; the
// layout refuses a type that it does not accept.
//
// Example:
//   auto layout = ModelLayout::Create(Gpt2Parameters(DataType::kBfloat16),
//                                     {.world_size = 2});
#pragma once

#include <vector>

#include "collectives/kernels/data_type.h"
#include "optimizer/layout/layout_parameter.h"

namespace rondo {

// GPT-2 with 12 blocks, 124,439,808 parameters in 148 arrays, and the head,
// which is tied to the token embedding. Names are those of the published
// weights. Group 0: matrices and embeddings, to which weight decay applies by
// custom; group 1: biases and layer norms. Unit 0 has the embeddings, 1 to 12
// one block each, 13 the last layer norm and the head.
std::vector<LayoutParameter> Gpt2Parameters(DataType type);

}  // namespace rondo
