#include "optimizer/step/float_array.h"

#include <sys/mman.h>

#include <cstdint>

#include "fmt/format.h"

namespace rondo {
namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;

}  // namespace

Result<FloatArray> FloatArray::Allocate(size_t count, int place) {
  FloatArray array;
  if (count == 0) return array;
  const size_t shift_bytes = kHugePageBytes / kPlaces * (place % kPlaces);
  const size_t bytes = count * sizeof(float) + shift_bytes + kHugePageBytes;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Status(
        Code::kResourceExhausted,
        fmt::format("no memory for {} bytes of optimizer state", bytes));
  }
  // Only speed depends on it, and not every system has huge pages.
  static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
  array.memory_ = memory;
  array.memory_bytes_ = bytes;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  const size_t to_huge_page = -begin % kHugePageBytes;
  array.data_ = reinterpret_cast<float*>(static_cast<char*>(memory) +
                                         to_huge_page + shift_bytes);
  array.count_ = count;
  return array;
}

FloatArray::~FloatArray() {
  if (memory_ != nullptr) munmap(memory_, memory_bytes_);
}

}  // namespace rondo
