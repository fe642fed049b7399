// UpdateElements: the whole work of a fused step on a run of elements.
//
// Sums the gradients, applies the rule and stores the rounded parameters, all
// in one pass over memory. Any rule works, tile by tile; for AdamRule with
// float or bfloat16 gradients and parameters the three are one loop
// (adam_fused.h). Bits depend on neither, nor on how elements are cut into
// runs.
//
// Thread-safety: safe on disjoint arrays, while the rule begins no step.
// Ownership: none taken. Failure: none; what is in `update` must satisfy
// element_update.h, and `group` be one of the rule's.
//
// Example:
//   UpdateElements(rule, group, {.sources = gradients,
//                                .scale = 1.0f / world_size,
//                                .destinations = parameters_of_all_ranks,
//                                .hint = StoreHint::kStream,
//                                .offset = offset,
//                                .count = count,
//                                .parameter = master + at,
//                                .states = states});
//   FenceStreamedStores();
#pragma once

#include "optimizer/kernels/element_update.h"
#include "optimizer/kernels/update_rule.h"

namespace rondo {

// With kStream the caller must call FenceStreamedStores() (tile_kernels.h)
// before it tells anyone that the parameters are written.
void UpdateElements(const UpdateRule& rule, int group,
                    const ElementUpdate& update);

// The same, always tile by tile: what others are compared with.
void UpdateElementsByTile(const UpdateRule& rule, int group,
                          const ElementUpdate& update);

}  // namespace rondo
