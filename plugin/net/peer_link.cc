#include "plugin/net/peer_link.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "transports/bootstrap/network.h"

namespace rondo::plugin {
namespace {

constexpr size_t kMostMessageBytes = 64 << 10;
constexpr uint32_t kGoodbye = 0xffffffff;

// A host that vanished without a word is found by the kernel, with no call from
// an idle process: after about half a minute.
void KeepAlive(int fd) {
  const int on = 1, idle_s = 10, interval_s = 5, probes = 4;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

}  // namespace

PeerLink::PeerLink(FileDescriptor socket, std::string peer)
    : socket_(std::move(socket)), peer_(std::move(peer)), connected_(true) {
  KeepAlive(socket_.get());
}

Result<PeerLink> PeerLink::StartConnect(const SocketAddress& address) {
  sockaddr_storage raw;
  const socklen_t bytes = address.ToSockaddr(&raw);
  FileDescriptor socket(
      ::socket(raw.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return SystemError("socket", errno);
  PeerLink link(std::move(socket), address.ToString());
  link.connected_ = false;
  const auto* peer = reinterpret_cast<const sockaddr*>(&raw);
  if (connect(link.socket_.get(), peer, bytes) != 0 && errno != EINPROGRESS &&
      errno != EINTR) {
    return link.Broken("connecting", errno);
  }
  return link;
}

Status PeerLink::Broken(const std::string& what, int error) const {
  return Status(Code::kRemoteDead,
                what + ", peer " + peer_ + ": " +
                    (error == 0 ? std::string("it closed the connection")
                                : std::string(std::strerror(error))));
}

Status PeerLink::FinishConnect() {
  pollfd ready{socket_.get(), POLLOUT, 0};
  if (poll(&ready, 1, 0) <= 0) return Status::Ok();
  int error = 0;
  socklen_t bytes = sizeof(error);
  getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
  if (error != 0) return Broken("connecting", error);
  connected_ = true;
  return Status::Ok();
}

void PeerLink::Queue(const std::string& message) {
  const auto bytes = static_cast<uint32_t>(message.size());
  out_.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  out_ += message;
}

Status PeerLink::Advance() {
  if (!connected_) RONDO_RETURN_IF_ERROR(FinishConnect());
  if (!connected_) return Status::Ok();
  if (!out_.empty()) {
    const IoResult wrote = WriteSome(socket_.get(), out_.data(), out_.size());
    if (wrote.state == IoResult::State::kFailed) {
      return Broken("setting up a connection", wrote.error);
    }
    out_.erase(0, wrote.bytes);
  }
  if (HasMessage()) return Status::Ok();
  char buffer[4096];
  const IoResult got = ReadSome(socket_.get(), buffer, sizeof(buffer));
  if (got.state == IoResult::State::kFailed ||
      got.state == IoResult::State::kClosed) {
    return Broken("setting up a connection", got.error);
  }
  in_.append(buffer, got.bytes);
  uint32_t bytes = 0;
  if (in_.size() < sizeof(bytes)) return Status::Ok();
  std::memcpy(&bytes, in_.data(), sizeof(bytes));
  if (bytes > kMostMessageBytes) {
    return Status(Code::kTransport,
                  "peer " + peer_ + " sent no greeting of this plugin");
  }
  return Status::Ok();
}

bool PeerLink::HasMessage() const {
  uint32_t bytes = 0;
  if (in_.size() < sizeof(bytes)) return false;
  std::memcpy(&bytes, in_.data(), sizeof(bytes));
  return bytes <= kMostMessageBytes && in_.size() >= sizeof(bytes) + bytes;
}

std::string PeerLink::TakeMessage() {
  uint32_t bytes = 0;
  std::memcpy(&bytes, in_.data(), sizeof(bytes));
  std::string message = in_.substr(sizeof(bytes), bytes);
  in_.erase(0, sizeof(bytes) + bytes);
  return message;
}

PeerLink::State PeerLink::Look() {
  char buffer[64];
  const IoResult got = ReadSome(socket_.get(), buffer, sizeof(buffer));
  in_.append(buffer, got.bytes);
  uint32_t word = 0;
  // Perhaps read already, behind the last message of the set-up.
  if (in_.size() >= sizeof(word)) {
    std::memcpy(&word, in_.data(), sizeof(word));
    return word == kGoodbye ? State::kSaidGoodbye : State::kBroken;
  }
  return got.state == IoResult::State::kWouldBlock ||
                 got.state == IoResult::State::kDone
             ? State::kOpen
             : State::kBroken;
}

void PeerLink::Close() {
  if (!socket_.valid()) return;
  if (connected_) WriteSome(socket_.get(), &kGoodbye, sizeof(kGoodbye));
  // Unread bytes would turn the close into a reset, which could overtake the
  // goodbye.
  char rest[256];
  while (ReadSome(socket_.get(), rest, sizeof(rest)).state ==
         IoResult::State::kDone) {
  }
  socket_.Close();
}

}  // namespace rondo::plugin
