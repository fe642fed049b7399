// ControlSocket: fixed-size records between two processes of a measurement.
//
// One end of a socketpair made before the fork. It carries handles, orders and
// results, never the measured data. Waiting sleeps in poll(), so that an idle
// process leaves its core to who is measured.
//
// Thread-safety: one thread. Ownership: closes its descriptor. Failure:
// kRemoteDead when the other process is gone, kTimeout beyond the deadline.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(ControlPair pair, MakeControlPair());
//   RONDO_RETURN_IF_ERROR(pair.first.Send(order));
//   RONDO_RETURN_IF_ERROR(pair.second.Receive(&order, deadline));
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "transports/base/clock.h"
#include "transports/base/status.h"

namespace rondo::perf {

class ControlSocket {
 public:
  ControlSocket() = default;
  explicit ControlSocket(int fd) : fd_(fd) {}
  ~ControlSocket() { Close(); }
  ControlSocket(ControlSocket&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)) {}
  ControlSocket& operator=(ControlSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  void Close();

  template <typename Record>
  Status Send(const Record& record) {
    static_assert(std::is_trivially_copyable_v<Record>);
    return SendBytes(&record, sizeof(record));
  }
  template <typename Record>
  Status Receive(Record* record, Deadline deadline) {
    static_assert(std::is_trivially_copyable_v<Record>);
    return ReceiveBytes(record, sizeof(*record), deadline);
  }

 private:
  Status SendBytes(const void* data, size_t bytes);
  Status ReceiveBytes(void* data, size_t bytes, Deadline deadline);

  int fd_ = -1;
};

using ControlPair = std::pair<ControlSocket, ControlSocket>;
Result<ControlPair> MakeControlPair();

}  // namespace rondo::perf
