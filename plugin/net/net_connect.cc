#include "plugin/net/net_connect.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "transports/base/log.h"
#include "transports/bootstrap/network.h"

namespace rondo::plugin {
namespace {

// Strays beyond this many are turned away; a listener has one caller.
constexpr size_t kMostCallers = 64;

Result<uint64_t> RandomWord() {
  uint64_t word = 0;
  if (getrandom(&word, sizeof(word), 0) != sizeof(word)) {
    return SystemError("getrandom", errno);
  }
  return word;
}

}  // namespace

Result<std::unique_ptr<NetListener>> NetListener::Open(SocketAddress address,
                                                       int64_t peer_timeout_ms,
                                                       OpenContext open) {
  std::unique_ptr<NetListener> listener(new NetListener());
  address.port = 0;
  RONDO_ASSIGN_OR_RETURN(listener->socket_, ListenOn(&address));
  RONDO_ASSIGN_OR_RETURN(listener->nonce_, RandomWord());
  listener->address_ = address;
  listener->peer_timeout_ms_ = peer_timeout_ms;
  listener->open_ = std::move(open);
  return listener;
}

void NetListener::FillHandle(NetHandle* handle) const {
  *handle = {};
  handle->magic = kHandleMagic;
  handle->nonce = nonce_;
  handle->family = static_cast<uint8_t>(address_.family);
  std::memcpy(handle->ip, address_.ip.data(), sizeof(handle->ip));
  handle->scope_id = address_.scope_id;
  handle->port = address_.port;
}

void NetListener::TakeCallers() {
  AcceptResult accepted = AcceptFrom(socket_.get());
  if (accepted.error != 0) {
    RONDO_LOG_WARN("accepting a connection on {}: {}", address_.ToString(),
                   std::strerror(accepted.error));
  }
  if (!accepted.socket.valid() || callers_.size() >= kMostCallers) return;
  sockaddr_storage raw{};
  socklen_t bytes = sizeof(raw);
  std::string name = "of an unknown address";
  auto* peer = reinterpret_cast<sockaddr*>(&raw);
  if (getpeername(accepted.socket.get(), peer, &bytes) == 0) {
    auto address = SocketAddress::FromSockaddr(peer);
    if (address.ok()) name = address->ToString();
  }
  callers_.emplace_back(std::move(accepted.socket), std::move(name));
}

Status NetListener::GreetCallers() {
  for (auto caller = callers_.begin(); caller != callers_.end();) {
    Status why = caller->Advance();
    if (why.ok() && !caller->HasMessage()) {
      ++caller;
      continue;
    }
    if (why.ok()) {
      auto greeting = Greeting::Decode(caller->TakeMessage());
      if (greeting.ok() && greeting->nonce == nonce_) {
        PeerLink link = std::move(*caller);
        callers_.erase(caller);
        return Answer(std::move(link), *greeting);
      }
      why = greeting.ok() ? Status(Code::kTransport, "it called another handle")
                          : greeting.status();
    }
    RONDO_LOG_WARN("dropped a caller of {}, {}: {}", address_.ToString(),
                   caller->peer(), why.message());
    caller = callers_.erase(caller);
  }
  return Status::Ok();
}

Status NetListener::Answer(PeerLink link, const Greeting& greeting) {
  RONDO_ASSIGN_OR_RETURN(context_, open_());
  RONDO_ASSIGN_OR_RETURN(path_, NetPath::Open(context_, peer_timeout_ms_));
  Greeting answer;
  answer.nonce = nonce_;
  RONDO_ASSIGN_OR_RETURN(answer.worker_address, path_->Address());
  chosen_ = std::move(link);
  chosen_address_ = greeting.worker_address;
  chosen_.Queue(answer.Encode());
  return Status::Ok();
}

Status NetListener::Advance(std::unique_ptr<ReceiveComm>* comm) {
  comm->reset();
  if (path_ == nullptr) {
    TakeCallers();
    RONDO_RETURN_IF_ERROR(GreetCallers());
    if (path_ == nullptr) return Status::Ok();
  }
  Status status = WireChosen(comm);
  if (status.code() != Code::kRemoteDead) return status;
  // The caller went away half-way; another may come.
  RONDO_LOG_WARN("a caller of {} went away: {}", address_.ToString(),
                 status.message());
  path_.reset();
  return Status::Ok();
}

Status NetListener::WireChosen(std::unique_ptr<ReceiveComm>* comm) {
  if (path_->endpoint() == nullptr) {
    RONDO_RETURN_IF_ERROR(chosen_.Advance());
    if (!chosen_.sent()) return Status::Ok();
    RONDO_RETURN_IF_ERROR(path_->Attach(std::move(chosen_), chosen_address_));
  }
  RONDO_RETURN_IF_ERROR(path_->Wire());
  if (!path_->wired()) return Status::Ok();
  *comm = std::make_unique<ReceiveComm>(std::move(path_), context_);
  return Status::Ok();
}

Result<std::unique_ptr<NetConnector>> NetConnector::Start(
    const NetHandle& handle, int64_t peer_timeout_ms, const OpenContext& open) {
  std::unique_ptr<NetConnector> connector(new NetConnector());
  SocketAddress address;
  address.family = static_cast<SocketAddress::Family>(handle.family);
  std::memcpy(address.ip.data(), handle.ip, sizeof(handle.ip));
  address.scope_id = handle.scope_id;
  address.port = handle.port;
  RONDO_ASSIGN_OR_RETURN(connector->link_, PeerLink::StartConnect(address));
  RONDO_ASSIGN_OR_RETURN(connector->context_, open());
  RONDO_ASSIGN_OR_RETURN(connector->path_,
                         NetPath::Open(connector->context_, peer_timeout_ms));
  connector->grants_ =
      std::make_unique<SendComm::GrantQueue>(connector->path_.get());
  Greeting greeting;
  greeting.nonce = connector->nonce_ = handle.nonce;
  RONDO_ASSIGN_OR_RETURN(greeting.worker_address, connector->path_->Address());
  connector->link_.Queue(greeting.Encode());
  return connector;
}

Status NetConnector::Advance(std::unique_ptr<SendComm>* comm) {
  comm->reset();
  if (!attached_) {
    RONDO_RETURN_IF_ERROR(link_.Advance());
    if (!link_.HasMessage()) return Status::Ok();
    RONDO_ASSIGN_OR_RETURN(const Greeting greeting,
                           Greeting::Decode(link_.TakeMessage()));
    attached_ = true;
    RONDO_RETURN_IF_ERROR(
        path_->Attach(std::move(link_), greeting.worker_address));
  }
  RONDO_RETURN_IF_ERROR(path_->Wire());
  if (!path_->wired()) return Status::Ok();
  *comm = std::make_unique<SendComm>(std::move(path_), context_,
                                     std::move(grants_));
  return Status::Ok();
}

}  // namespace rondo::plugin
