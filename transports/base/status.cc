#include "transports/base/status.h"

#include <cstring>

namespace rondo {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kOk:
      return "OK";
    case Code::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case Code::kInvalidUsage:
      return "INVALID_USAGE";
    case Code::kMismatch:
      return "MISMATCH";
    case Code::kRemoteDead:
      return "REMOTE_DEAD";
    case Code::kTimeout:
      return "TIMEOUT";
    case Code::kAborted:
      return "ABORTED";
    case Code::kTransport:
      return "TRANSPORT";
    case Code::kSystem:
      return "SYSTEM";
    case Code::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case Code::kNotSupported:
      return "NOT_SUPPORTED";
    case Code::kInternal:
      return "INTERNAL";
  }
  return "UNKNOWN";
}

std::string Status::ToString() const {
  if (ok()) return "OK";
  return std::string(CodeName(code_)) + ": " + message_;
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return *this;
  return Status(code_, std::string(context) + ": " + message_);
}

Status InvalidArgument(std::string message) {
  return Status(Code::kInvalidArgument, std::move(message));
}

Status InvalidUsage(std::string message) {
  return Status(Code::kInvalidUsage, std::move(message));
}

Status Internal(std::string message) {
  return Status(Code::kInternal, std::move(message));
}

Status SystemError(std::string_view what, int error_number) {
  return Status(Code::kSystem,
                std::string(what) + ": " + std::strerror(error_number));
}

}  // namespace rondo
