// Buffer: the memory that a benchmark's calls work on, of a chosen kind.
//
// Thread-safety: one thread. Ownership: owns its memory; movable, not copyable.
// Failure: Allocate() reports memory that cannot be had, with the size.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(Buffer buffer,
//                          Buffer::Allocate(BufferKind::kUser, 1 << 20));
//   std::memset(buffer.data(), 0, buffer.bytes());
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/symmetric_buffer.h"
#include "transports/base/status.h"

namespace rondo::perf {

enum class BufferKind {
  kUser,       // ordinary memory of this process, as any program would pass it
  kSymmetric,  // SymmetricBuffer: what ranks of a host reach in each other
};

// "user", "symmetric".
std::string_view BufferKindName(BufferKind kind);
Result<BufferKind> ParseBufferKind(std::string_view name);
// The names of every kind, in order.
std::vector<std::string> BufferKindNames();

class Buffer {
 public:
  // Starts at a page.
  static Result<Buffer> Allocate(BufferKind kind, size_t bytes);

  Buffer() = default;  // no memory

  std::byte* data() const {
    if (user_ != nullptr) return user_.get();
    return static_cast<std::byte*>(symmetric_.data());
  }
  size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kAlignment = 4096;
  struct Freer {
    void operator()(std::byte* memory) const {
      operator delete (memory, std::align_val_t{kAlignment});
    }
  };

  std::unique_ptr<std::byte, Freer> user_;
  SymmetricBuffer symmetric_;
  size_t bytes_ = 0;
};

}  // namespace rondo::perf
