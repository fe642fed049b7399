// SymmetricBuffer: memory that the ranks of a host reach in each other
// directly.
//
// Collectives on such memory are the fastest: a peer reads from it, or writes
// into it, with plain loads and stores. Allocation is local, like ncclMemAlloc:
// no communicator, and no other rank, takes part. A buffer may be used with any
// number of communicators, whole or in part, as input or as output; ranks may
// mix symmetric and ordinary buffers in one call as they like.
//
// Where it cannot be shared (a /dev/shm that is too small, another user,
// another container), one line of the log says why and the memory works as any
// other.
//
// Thread-safety: any thread. Ownership: the memory is the object's; it may go
// before or after the communicators that used it. The destructor waits for
// calls that still use it, moving them forward.
// Failure: kResourceExhausted when there is no memory at all.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto gradients, SymmetricBuffer::Allocate(bytes));
//   comm->ReduceScatter(gradients.data(), shard, count, DataType::kFloat32,
//                       Reduction::kSum);
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "transports/base/status.h"

namespace rondo {

class SymmetricBuffer {
 public:
  // `bytes` of zeroed memory, aligned to pages; 0 is accepted.
  static Result<SymmetricBuffer> Allocate(size_t bytes);

  SymmetricBuffer() = default;
  SymmetricBuffer(SymmetricBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  SymmetricBuffer& operator=(SymmetricBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SymmetricBuffer();

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  SymmetricBuffer(void* data, size_t bytes) : data_(data), bytes_(bytes) {}

  void* data_ = nullptr;
  size_t bytes_ = 0;
};

// Gives memory of SymmetricHeap back, waiting for calls that use it until
// `timeout_ms` have passed: then it is kTimeout and nothing is freed.
Status FreeSymmetric(void* data, int64_t timeout_ms);

}  // namespace rondo
