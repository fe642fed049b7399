// CopyBytes: memcpy with a choice of how the destination is stored.
//
// Thread-safety: safe on disjoint destinations. Ownership: none taken.
// Failure: none; the ranges must be valid, and disjoint or identical.
//
// Example:
//   CopyBytes(peer_output + offset, block, block_bytes, StoreHint::kStream);
#pragma once

#include <cstddef>

#include "collectives/kernels/store_hint.h"

namespace rondo {

// Copies `bytes` from `source` to `destination`, of any alignment. Identical
// ranges are left as they are: that is how in-place collectives arrive here.
// With kStream only whole cache lines are streamed; the ragged ends, and copies
// of a few lines, go through the cache.
void CopyBytes(void* destination, const void* source, size_t bytes,
               StoreHint hint = StoreHint::kCached);

}  // namespace rondo
