// Setting up a connection, one bounded step at a time: NetListener and
// NetConnector.
//
// NCCL calls both sides in a loop from one thread, in any order, perhaps for
// both ends of the same connection; so no step waits for anything.
//
// Thread-safety: one thread at a time each. Ownership: what is under way is
// theirs; a finished communicator is the caller's. Failure: connecting fails
// for good; a listener drops what is no caller of its handle, says so, and goes
// on.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto listener, NetListener::Open(address, open));
//   listener->FillHandle(handle);
//   RONDO_RETURN_IF_ERROR(listener->Advance(&receive_comm));  // null: not yet
#pragma once

#include <functional>
#include <list>
#include <memory>

#include "plugin/net/greeting.h"
#include "plugin/net/net_handle.h"
#include "plugin/net/peer_link.h"
#include "plugin/net/receive_comm.h"
#include "plugin/net/send_comm.h"
#include "transports/bootstrap/address.h"
#include "transports/bootstrap/file_descriptor.h"

namespace rondo::plugin {

// Opens UCX on a device, or shares what is open.
using OpenContext = std::function<Result<std::shared_ptr<UcxContext>>()>;

class NetListener {
 public:
  static Result<std::unique_ptr<NetListener>> Open(SocketAddress address,
                                                   int64_t peer_timeout_ms,
                                                   OpenContext open);
  void FillHandle(NetHandle* handle) const;
  Status Advance(std::unique_ptr<ReceiveComm>* comm);

 private:
  NetListener() = default;
  void TakeCallers();
  // The caller with a valid greeting becomes the one to be wired.
  Status GreetCallers();
  Status Answer(PeerLink link, const Greeting& greeting);
  Status WireChosen(std::unique_ptr<ReceiveComm>* comm);

  FileDescriptor socket_;
  SocketAddress address_;
  uint64_t nonce_ = 0;
  int64_t peer_timeout_ms_ = 0;
  OpenContext open_;
  std::list<PeerLink> callers_;  // whose greeting has not come
  PeerLink chosen_;              // while our greeting is leaving
  std::string chosen_address_;
  std::shared_ptr<UcxContext> context_;
  std::unique_ptr<NetPath> path_;
};

class NetConnector {
 public:
  static Result<std::unique_ptr<NetConnector>> Start(const NetHandle& handle,
                                                     int64_t peer_timeout_ms,
                                                     const OpenContext& open);
  Status Advance(std::unique_ptr<SendComm>* comm);

 private:
  NetConnector() = default;

  uint64_t nonce_ = 0;
  PeerLink link_;
  bool attached_ = false;
  std::shared_ptr<UcxContext> context_;
  std::unique_ptr<SendComm::GrantQueue> grants_;
  std::unique_ptr<NetPath> path_;  // before the queue of its messages
};

}  // namespace rondo::plugin
