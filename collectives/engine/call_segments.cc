#include "collectives/engine/call_segments.h"

namespace rondo {
namespace {

size_t InputBytes(const CallArguments& arguments, int rank) {
  const BlockCounts& counts = arguments.counts;
  const size_t count = arguments.collective == Collective::kAllGather
                           ? counts[rank]
                           : counts.total();
  return count * ElementSize(arguments.input_type);
}

size_t OutputBytes(const CallArguments& arguments, int rank) {
  const BlockCounts& counts = arguments.counts;
  const size_t count = arguments.collective == Collective::kReduceScatter
                           ? counts[rank]
                           : counts.total();
  return count * ElementSize(arguments.output_type);
}

}  // namespace

void CallSegments::Hold(const CallArguments& arguments, int rank) {
  const SymmetricHeap& heap = SymmetricHeap::Get();
  input_ = heap.Find(arguments.input, InputBytes(arguments, rank));
  output_ = heap.Find(arguments.output, OutputBytes(arguments, rank));
}

void CallSegments::Name(CallHeader* header, HostArea::Slot* slot) const {
  if (input_ != nullptr) {
    header->input_segment = input_->name().identity;
    slot->input = input_->name();
  }
  if (output_ != nullptr) {
    header->output_segment = output_->name().identity;
    slot->output = output_->name();
  }
}

void CallSegments::Release() {
  input_.reset();
  output_.reset();
}

}  // namespace rondo
