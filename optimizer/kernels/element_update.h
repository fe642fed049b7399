// ElementUpdate: what one fused step does to a run of elements of one group.
//
// Thread-safety: a value. Ownership: none of what it points to. Failure: none;
// element types are floating-point, and nothing that is written overlaps
// anything else.
//
// Example: see update_elements.h.
#pragma once

#include <cstddef>
#include <span>

#include "collectives/engine/update.h"
#include "collectives/kernels/store_hint.h"

namespace rondo {

struct ElementUpdate {
  // The gradient of each rank, in rank order, and what their sum is multiplied
  // by; elements offset .. offset + count - 1 of each.
  std::span<const ConstElements> sources;
  float scale = 1;
  float coefficient = 1;  // and then by this, with a rounding of its own
  // Where the new parameters go, at the same elements.
  std::span<const MutableElements> destinations;
  StoreHint hint = StoreHint::kCached;
  size_t offset = 0;
  size_t count = 0;
  // fp32 arrays of `count` elements: the master parameters, and the rule's
  // states.
  float* parameter = nullptr;
  float* const* states = nullptr;
};

}  // namespace rondo
