// PeerLink: the plain TCP connection beside every communicator's UCX path.
//
// It carries what both need before there is a path (one hello each way, with
// the worker's address), and afterwards nothing: the kernel closes it at once
// when the peer's process ends, however that happens, and keeps it open without
// any call of an idle one. That is how a dead peer is told from a quiet one. An
// orderly close says goodbye first.
//
// Thread-safety: one thread at a time. Ownership: owns the socket. Failure: a
// broken link names the peer and the reason.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(PeerLink link, PeerLink::StartConnect(address));
//   link.Queue(hello);
//   RONDO_RETURN_IF_ERROR(link.Advance());
//   if (link.HasMessage()) std::string answer = link.TakeMessage();
#pragma once

#include <string>

#include "transports/base/status.h"
#include "transports/bootstrap/address.h"
#include "transports/bootstrap/file_descriptor.h"

namespace rondo::plugin {

class PeerLink {
 public:
  PeerLink() = default;
  PeerLink(FileDescriptor socket, std::string peer);

  // Begins to connect; never waits.
  static Result<PeerLink> StartConnect(const SocketAddress& address);

  // One message of at most 64 KiB, sent as the socket takes it.
  void Queue(const std::string& message);
  // Whatever reading and writing is possible now.
  Status Advance();
  bool sent() const { return connected_ && out_.empty(); }
  bool HasMessage() const;
  std::string TakeMessage();

  // Looks whether the peer is still there, without waiting.
  enum class State { kOpen, kSaidGoodbye, kBroken };
  State Look();
  // Says goodbye and closes.
  void Close();

  // "10.0.0.2:4711"
  const std::string& peer() const { return peer_; }

 private:
  Status Broken(const std::string& what, int error) const;
  Status FinishConnect();

  FileDescriptor socket_;
  std::string peer_;
  bool connected_ = false;
  std::string out_;
  std::string in_;
};

}  // namespace rondo::plugin
