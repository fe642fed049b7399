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

#include "transports/base/status.h"

namespace rondo::perf {

enum class BufferKind {
  kUser,  // ordinary memory of this process, as any program would pass it
};

// "user".
std::string_view BufferKindName(BufferKind kind);
Result<BufferKind> ParseBufferKind(std::string_view name);
// The names of every kind, in order.
std::vector<std::string> BufferKindNames();

class Buffer {
 public:
  // Starts at a page. Not touched yet, so that the caller decides which thread
  // pays for its pages.
  static Result<Buffer> Allocate(BufferKind kind, size_t bytes);

  Buffer() = default;  // no memory

  std::byte* data() const { return user_.get(); }
  size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kAlignment = 4096;
  struct Freer {
    void operator()(std::byte* memory) const {
      operator delete (memory, std::align_val_t{kAlignment});
    }
  };

  std::unique_ptr<std::byte, Freer> user_;
  size_t bytes_ = 0;
};

}  // namespace rondo::perf
