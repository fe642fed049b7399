// Status and Result<T>: how every function of Rondo reports failure.
//
// No exception crosses an interface of this library. A function that can fail
// returns a Status, or a Result<T> when it also has a value. The function that
// first detects an error writes its message: it names the value, the rank and
// what would have been accepted. Callers only add context (`WithContext`).
//
// Thread-safety: values; safe to copy between threads, not to share one object
// that is being assigned. Ownership: a Status owns its message.
//
// Example:
//   Result<int> port = ParsePort(text);
//   if (!port.ok()) return port.status().WithContext("RONDO_ROOT");
//   RONDO_RETURN_IF_ERROR(Connect(*port));
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rondo {

// What kind of error it is. The numbers are those of rondoResult_t in the C API
// (rondo.h) and never change meaning.
enum class Code : int {
  kOk = 0,
  kInvalidArgument = 1,    // the caller passed a value that is not accepted
  kInvalidUsage = 2,       // the call is not allowed in this state or order
  kMismatch = 3,           // ranks called different collectives
  kRemoteDead = 4,         // another rank died, or no longer answers
  kTimeout = 5,            // a deadline passed
  kAborted = 6,            // someone called abort, or an earlier error did
  kTransport = 7,          // the network or shared memory failed
  kSystem = 8,             // a system call failed
  kResourceExhausted = 9,  // no memory, descriptors or room left
  kNotSupported = 10,      // real, but not in this build or on this machine
  kInternal = 11,          // a defect of Rondo
};

// "INVALID_ARGUMENT" and so on; "UNKNOWN(17)" never happens for a Code.
std::string_view CodeName(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(Code code, std::string message)
      : code_(code), message_(std::move(message)) {}

  static Status Ok() { return Status(); }

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // "MISMATCH: rank 1 ..." or "OK".
  std::string ToString() const;

  // The same error with `context: ` before its message; ok stays ok.
  Status WithContext(std::string_view context) const;

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

Status InvalidArgument(std::string message);
Status InvalidUsage(std::string message);
Status Internal(std::string message);
// `what` failed with the value of errno `error_number`.
Status SystemError(std::string_view what, int error_number);

template <typename T>
class [[nodiscard]] Result {
 public:
  // An error; a Status that is ok is a defect and becomes kInternal.
  Result(Status status) : status_(std::move(status)) {  // NOLINT
    if (status_.ok()) status_ = Internal("a Result was made from an ok Status");
  }
  Result(T value) : value_(std::move(value)) {}  // NOLINT

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  // The value; only when ok().
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace rondo

// Returns from the enclosing function when `expression` is not ok.
#define RONDO_RETURN_IF_ERROR(expression)          \
  do {                                             \
    ::rondo::Status rondo_status_ = (expression);  \
    if (!rondo_status_.ok()) return rondo_status_; \
  } while (false)

#define RONDO_CONCAT_INNER_(a, b) a##b
#define RONDO_CONCAT_(a, b) RONDO_CONCAT_INNER_(a, b)

// RONDO_ASSIGN_OR_RETURN(auto x, F()): x is the value of F(), or return.
#define RONDO_ASSIGN_OR_RETURN(target, expression)                        \
  RONDO_ASSIGN_OR_RETURN_(RONDO_CONCAT_(rondo_result_, __LINE__), target, \
                          expression)
#define RONDO_ASSIGN_OR_RETURN_(result, target, expression) \
  auto result = (expression);                               \
  if (!result.ok()) return result.status();                 \
  target = *std::move(result)
