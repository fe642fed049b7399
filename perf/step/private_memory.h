// PrivateMemory: memory of this process alone, in huge pages where the system
// has them, as the optimizer's own state is.
//
// Thread-safety: one thread. Ownership: owns its memory; movable, not copyable.
// Failure: kResourceExhausted names the size.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(PrivateMemory memory,
//                          PrivateMemory::Allocate(count * sizeof(float)));
#pragma once

#include <cstddef>
#include <utility>

#include "transports/base/status.h"

namespace rondo::perf {

class PrivateMemory {
 public:
  // Zeroed, present, and aligned to a page.
  static Result<PrivateMemory> Allocate(size_t bytes);

  PrivateMemory() = default;
  PrivateMemory(PrivateMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  PrivateMemory& operator=(PrivateMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~PrivateMemory();

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace rondo::perf
