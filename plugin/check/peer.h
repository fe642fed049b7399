// A second process for a check: forked before the plugin is loaded.
//
// Both sides talk over a socket pair: bytes of a fixed size each way, with a
// deadline, for handles and for "now".
//
// Thread-safety: one thread. Ownership: the first process kills and reaps the
// second. Failure: a peer that ended early or stays silent is named.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(Peer peer, Peer::Start([&](PeerChannel& channel) {
//     ...;  // in the other process
//     return Status::Ok();
//   }));
//   RONDO_RETURN_IF_ERROR(peer.channel().Receive(&handle));
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "plugin/check/connection.h"

namespace rondo::plugin {

class PeerChannel {
 public:
  explicit PeerChannel(int fd) : fd_(fd) {}
  Status SendBytes(const void* bytes, size_t count);
  Status ReceiveBytes(void* bytes, size_t count, int64_t patience_ms);

  template <typename T>
  Status Send(const T& value) {
    return SendBytes(&value, sizeof(value));
  }
  template <typename T>
  Status Receive(T* value, int64_t patience_ms = 2 * kPatienceMs) {
    return ReceiveBytes(value, sizeof(*value), patience_ms);
  }

 private:
  int fd_;
};

class Peer {
 public:
  using Body = std::function<Status(PeerChannel&)>;
  static Result<Peer> Start(const Body& body);
  Peer(Peer&& other) noexcept;
  Peer& operator=(Peer&&) = delete;
  ~Peer();

  PeerChannel& channel() { return channel_; }
  void Kill();
  // What its body returned.
  Status Join();

 private:
  Peer(pid_t process, int fd) : process_(process), fd_(fd), channel_(fd) {}

  pid_t process_;
  int fd_;
  PeerChannel channel_;
};

// One end each, in two processes: the sender has called listen's handle.
Result<OpenComm> ConnectToPeer(const PluginSide& side, PeerChannel* channel);
Result<OpenComm> AcceptFromPeer(const PluginSide& side, PeerChannel* channel);

}  // namespace rondo::plugin
