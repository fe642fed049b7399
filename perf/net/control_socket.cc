#include "perf/net/control_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace rondo::perf {

void ControlSocket::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

// A record is far smaller than a socket's buffer, and there is one at a time.
Status ControlSocket::SendBytes(const void* data, size_t bytes) {
  const ssize_t sent = send(fd_, data, bytes, MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(bytes)) return Status::Ok();
  if (sent < 0 && errno != EPIPE) return SystemError("send", errno);
  return Status(Code::kRemoteDead, "the other process has ended");
}

Status ControlSocket::ReceiveBytes(void* data, size_t bytes,
                                   Deadline deadline) {
  pollfd waiting = {fd_, POLLIN, 0};
  for (;;) {
    const int ready = poll(&waiting, 1, deadline.remaining_ms());
    if (ready > 0) break;
    if (ready < 0 && errno != EINTR) return SystemError("poll", errno);
    if (deadline.expired()) {
      return Status(Code::kTimeout, "the other process does not answer");
    }
  }
  const ssize_t got = recv(fd_, data, bytes, 0);
  if (got == static_cast<ssize_t>(bytes)) return Status::Ok();
  if (got < 0 && errno != ECONNRESET) return SystemError("recv", errno);
  return Status(Code::kRemoteDead, "the other process has ended");
}

Result<ControlPair> MakeControlPair() {
  std::array<int, 2> fds;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()) != 0) {
    return SystemError("socketpair", errno);
  }
  return ControlPair(ControlSocket(fds[0]), ControlSocket(fds[1]));
}

}  // namespace rondo::perf
