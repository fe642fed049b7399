// Non-blocking TCP sockets: listen, accept, connect, read, write.
//
// Every socket is non-blocking, close-on-exec and without Nagle's delay. What
// waits takes a Deadline. Nothing here listens on a wildcard address.
//
// Thread-safety: stateless; one thread at a time per descriptor.
// Ownership: returned descriptors belong to the caller.
// Failure: the message names the address and the system's reason.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(FileDescriptor listener, ListenOn(&address));
//   RONDO_ASSIGN_OR_RETURN(auto socket, ConnectTo(address, deadline));
#pragma once

#include <cstddef>
#include <optional>

#include "transports/base/clock.h"
#include "transports/base/status.h"
#include "transports/bootstrap/address.h"
#include "transports/bootstrap/file_descriptor.h"

namespace rondo {

// Listens on exactly this address; port 0 takes a free one and fills it in.
Result<FileDescriptor> ListenOn(SocketAddress* address);

struct AcceptResult {
  FileDescriptor socket;  // not valid(): nobody is waiting, or `error` is set
  int error = 0;          // errno, for instance EMFILE
};
AcceptResult AcceptFrom(int listener);

Result<FileDescriptor> ConnectTo(const SocketAddress& address,
                                 Deadline deadline);

// Waits until one of `events` (POLLIN, POLLOUT) holds; kTimeout otherwise.
Status WaitReady(int fd, short events, Deadline deadline);

// Lets time pass before another attempt, at most until the deadline.
void PauseMs(int pause_ms, Deadline deadline);

// What one non-blocking read or write did.
struct IoResult {
  enum class State { kDone, kWouldBlock, kClosed, kFailed };
  State state = State::kFailed;
  size_t bytes = 0;
  int error = 0;  // errno when kFailed
};
IoResult ReadSome(int fd, void* buffer, size_t bytes);
IoResult WriteSome(int fd, const void* buffer, size_t bytes);

}  // namespace rondo
