#include "transports/bootstrap/network.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace rondo {

namespace {

Result<FileDescriptor> NewSocket(const SocketAddress& address) {
  const int domain =
      address.family == SocketAddress::Family::kIpv4 ? AF_INET : AF_INET6;
  FileDescriptor socket(
      ::socket(domain, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.valid()) {
    return SystemError("socket for " + address.ToString(), errno);
  }
  return socket;
}

// Control messages are small and someone waits for each of them.
void DisableDelay(int fd) {
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

Status ConnectError(const SocketAddress& address, int error) {
  return SystemError("connect to " + address.ToString(), error);
}

}  // namespace

Result<FileDescriptor> ListenOn(SocketAddress* address) {
  if (address->IsWildcard()) {
    return InvalidArgument("will not listen on " + address->ToString() +
                           ", which is every interface: name one address");
  }
  RONDO_ASSIGN_OR_RETURN(FileDescriptor socket, NewSocket(*address));
  // A fixed port must not stay blocked by the previous job's closed sockets.
  const int one = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  sockaddr_storage raw;
  socklen_t length = address->ToSockaddr(&raw);
  if (bind(socket.get(), reinterpret_cast<sockaddr*>(&raw), length) != 0) {
    return SystemError("listen on " + address->ToString(), errno);
  }
  if (listen(socket.get(), SOMAXCONN) != 0) {
    return SystemError("listen on " + address->ToString(), errno);
  }
  length = sizeof(raw);
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&raw), &length) !=
      0) {
    return SystemError("getsockname", errno);
  }
  RONDO_ASSIGN_OR_RETURN(
      *address, SocketAddress::FromSockaddr(reinterpret_cast<sockaddr*>(&raw)));
  return socket;
}

AcceptResult AcceptFrom(int listener) {
  const int fd =
      accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) {
    DisableDelay(fd);
    return {FileDescriptor(fd), 0};
  }
  // A client that gave up while it waited is not our error.
  const bool nobody = errno == EAGAIN || errno == EWOULDBLOCK ||
                      errno == EINTR || errno == ECONNABORTED;
  return {FileDescriptor(), nobody ? 0 : errno};
}

Status WaitReady(int fd, short events, Deadline deadline) {
  while (true) {
    pollfd entry{fd, events, 0};
    const int ready = poll(&entry, 1, deadline.remaining_ms());
    if (ready > 0) return Status::Ok();
    if (ready < 0 && errno != EINTR) return SystemError("poll", errno);
    if (deadline.expired()) {
      return Status(Code::kTimeout, "the socket was not ready in time");
    }
  }
}

void PauseMs(int pause_ms, Deadline deadline) {
  poll(nullptr, 0, std::min(pause_ms, deadline.remaining_ms()));
}

Result<FileDescriptor> ConnectTo(const SocketAddress& address,
                                 Deadline deadline) {
  RONDO_ASSIGN_OR_RETURN(FileDescriptor socket, NewSocket(address));
  DisableDelay(socket.get());
  sockaddr_storage raw;
  const socklen_t length = address.ToSockaddr(&raw);
  const auto* peer = reinterpret_cast<const sockaddr*>(&raw);
  if (connect(socket.get(), peer, length) == 0) return socket;
  // An interrupted connect goes on in the background, as one in progress does.
  if (errno != EINPROGRESS && errno != EINTR) {
    return ConnectError(address, errno);
  }
  Status ready = WaitReady(socket.get(), POLLOUT, deadline);
  if (!ready.ok()) return ready.WithContext("connect to " + address.ToString());
  int error = 0;
  socklen_t error_bytes = sizeof(error);
  getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &error_bytes);
  if (error != 0) return ConnectError(address, error);
  return socket;
}

IoResult ReadSome(int fd, void* buffer, size_t bytes) {
  const ssize_t got = recv(fd, buffer, bytes, 0);
  if (got > 0) return {IoResult::State::kDone, static_cast<size_t>(got), 0};
  if (got == 0) return {IoResult::State::kClosed, 0, 0};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
    return {IoResult::State::kWouldBlock, 0, 0};
  }
  return {IoResult::State::kFailed, 0, errno};
}

IoResult WriteSome(int fd, const void* buffer, size_t bytes) {
  // No SIGPIPE: a peer that went away is an error value, not a signal.
  const ssize_t sent = send(fd, buffer, bytes, MSG_NOSIGNAL);
  if (sent >= 0) return {IoResult::State::kDone, static_cast<size_t>(sent), 0};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
    return {IoResult::State::kWouldBlock, 0, 0};
  }
  return {IoResult::State::kFailed, 0, errno};
}

}  // namespace rondo
