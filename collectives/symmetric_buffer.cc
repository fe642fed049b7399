#include "collectives/symmetric_buffer.h"

#include <string>

#include "collectives/engine/registry.h"
#include "collectives/engine/symmetric_heap.h"
#include "transports/base/clock.h"
#include "transports/base/log.h"

namespace rondo {
namespace {

// Calls have deadlines of their own, so this is only a second line.
constexpr int64_t kFreeMs = 600'000;

}  // namespace

Status FreeSymmetric(void* data, int64_t timeout_ms) {
  const Deadline deadline = Deadline::AfterMs(timeout_ms);
  Backoff backoff;
  while (true) {
    const Status freed = SymmetricHeap::Get().Free(data);
    if (freed.code() != Code::kInvalidUsage) return freed;
    if (deadline.expired()) {
      return Status(Code::kTimeout, freed.message() + ", still after " +
                                        std::to_string(timeout_ms) + " ms");
    }
    if (ProgressAllEngines()) {
      backoff.Reset();
    } else {
      backoff.Pause();
    }
  }
}

Result<SymmetricBuffer> SymmetricBuffer::Allocate(size_t bytes) {
  RONDO_ASSIGN_OR_RETURN(void* data, SymmetricHeap::Get().Allocate(bytes));
  return SymmetricBuffer(data, bytes);
}

SymmetricBuffer::~SymmetricBuffer() {
  const Status freed = FreeSymmetric(data_, kFreeMs);
  if (!freed.ok()) RONDO_LOG_WARN("{}", freed.message());
}

}  // namespace rondo
