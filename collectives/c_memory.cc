// The C API's symmetric memory.

#include "collectives/c_handle.h"
#include "collectives/engine/symmetric_heap.h"
#include "collectives/symmetric_buffer.h"

using rondo::FreeSymmetric;
using rondo::Guard;
using rondo::NeedPointer;
using rondo::Status;
using rondo::SymmetricHeap;

namespace {

// Calls have deadlines of their own, so this is only a second line.
constexpr int64_t kFreeMs = 600'000;

}  // namespace

rondoResult_t rondoMemAlloc(void** pointer, size_t bytes) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(NeedPointer(pointer, "pointer"));
    *pointer = nullptr;
    RONDO_ASSIGN_OR_RETURN(*pointer, SymmetricHeap::Get().Allocate(bytes));
    return Status::Ok();
  });
}

rondoResult_t rondoMemFree(void* pointer) {
  return Guard([&] { return FreeSymmetric(pointer, kFreeMs); });
}
