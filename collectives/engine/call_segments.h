// CallSegments: the symmetric segments that the buffers of a call lie in.
//
// While a call holds them they cannot be freed.
//
// Thread-safety: one thread at a time. Ownership: shares the segments with the
// heap. Failure: none; a buffer in ordinary memory has no segment.
//
// Example:
//   segments.Hold(arguments, rank);
//   segments.Name(&header, &slot);
#pragma once

#include <memory>

#include "collectives/engine/binding.h"
#include "collectives/engine/host_area.h"
#include "collectives/engine/symmetric_heap.h"

namespace rondo {

class CallSegments {
 public:
  void Hold(const CallArguments& arguments, int rank);
  // Says in the header which they are, and beside it how to map them.
  void Name(CallHeader* header, HostArea::Slot* slot) const;
  void Release();

 private:
  std::shared_ptr<const SymmetricSegment> input_;
  std::shared_ptr<const SymmetricSegment> output_;
};

}  // namespace rondo
