#include "perf/step/private_memory.h"

#include <sys/mman.h>

#include <cstring>

#include "fmt/format.h"

namespace rondo::perf {

Result<PrivateMemory> PrivateMemory::Allocate(size_t bytes) {
  PrivateMemory memory;
  if (bytes == 0) return memory;
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for {} bytes", bytes));
  }
  // Only speed depends on it, and not every system has huge pages.
  static_cast<void>(madvise(data, bytes, MADV_HUGEPAGE));
  // Pages that were never written are all the same one, and in the cache.
  std::memset(data, 0, bytes);
  memory.data_ = static_cast<std::byte*>(data);
  memory.bytes_ = bytes;
  return memory;
}

PrivateMemory::~PrivateMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace rondo::perf
