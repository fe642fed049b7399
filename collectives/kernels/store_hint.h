// StoreHint: whether a kernel's output should pass through the cache.
//
// A streaming (non-temporal) store writes whole cache lines without reading
// them first, which saves a third of the traffic of a large copy, but leaves
// the data in memory only. Use it for outputs that are larger than the cache
// or that nobody reads soon; kCached for everything else. The hint changes
// speed, never a bit of the result.
//
// Kernels that stream end with a store fence, so the usual release store is
// enough to publish their output to another thread or process.
#pragma once

namespace rondo {

enum class StoreHint { kCached, kStream };

}  // namespace rondo
