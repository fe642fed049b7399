#include "perf/bench/buffer.h"

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace rondo::perf {
namespace {

constexpr BufferKind kKinds[] = {BufferKind::kUser, BufferKind::kSymmetric};

}  // namespace

std::string_view BufferKindName(BufferKind kind) {
  switch (kind) {
    case BufferKind::kUser:
      return "user";
    case BufferKind::kSymmetric:
      return "symmetric";
  }
  return "unknown";
}

std::vector<std::string> BufferKindNames() {
  std::vector<std::string> names;
  for (BufferKind kind : kKinds) names.emplace_back(BufferKindName(kind));
  return names;
}

Result<BufferKind> ParseBufferKind(std::string_view name) {
  for (BufferKind kind : kKinds) {
    if (BufferKindName(kind) == name) return kind;
  }
  return InvalidArgument(fmt::format("\"{}\" is refused; accepted is {}", name,
                                     fmt::join(BufferKindNames(), ", ")));
}

Result<Buffer> Buffer::Allocate(BufferKind kind, size_t bytes) {
  Buffer buffer;
  if (kind == BufferKind::kSymmetric) {
    RONDO_ASSIGN_OR_RETURN(buffer.symmetric_, SymmetricBuffer::Allocate(bytes));
    buffer.bytes_ = bytes;
    return buffer;
  }
  buffer.user_.reset(static_cast<std::byte*>(operator new (
      bytes, std::align_val_t{kAlignment}, std::nothrow)));
  if (buffer.user_ == nullptr) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for a buffer of {} bytes", bytes));
  }
  buffer.bytes_ = bytes;
  return buffer;
}

}  // namespace rondo::perf
