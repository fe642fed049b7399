#include "optimizer/step/float_array.h"

#include <sys/mman.h>

#include "fmt/format.h"

namespace rondo {

Result<FloatArray> FloatArray::Allocate(size_t count) {
  FloatArray array;
  if (count == 0) return array;
  const size_t bytes = count * sizeof(float);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Status(
        Code::kResourceExhausted,
        fmt::format("no memory for {} bytes of optimizer state", bytes));
  }
  // Only speed depends on it, and not every system has huge pages.
  static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
  array.data_ = static_cast<float*>(memory);
  array.count_ = count;
  return array;
}

FloatArray::~FloatArray() {
  if (data_ != nullptr) munmap(data_, count_ * sizeof(float));
}

}  // namespace rondo
