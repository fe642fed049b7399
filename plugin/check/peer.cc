#include "plugin/check/peer.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "transports/base/clock.h"

namespace rondo::plugin {

Status PeerChannel::SendBytes(const void* bytes, size_t count) {
  const ssize_t sent = send(fd_, bytes, count, MSG_NOSIGNAL);
  return Expect(sent == static_cast<ssize_t>(count),
                "the other process of the check has ended");
}

Status PeerChannel::ReceiveBytes(void* bytes, size_t count,
                                 int64_t patience_ms) {
  const Deadline deadline = Deadline::AfterMs(patience_ms);
  size_t have = 0;
  while (have < count) {
    pollfd ready{fd_, POLLIN, 0};
    const int events = poll(&ready, 1, deadline.remaining_ms());
    if (events < 0 && errno == EINTR) continue;
    RONDO_RETURN_IF_ERROR(Expect(
        events > 0, "the other process of the check was silent for {} ms",
        patience_ms));
    const ssize_t got =
        recv(fd_, static_cast<char*>(bytes) + have, count - have, 0);
    RONDO_RETURN_IF_ERROR(
        Expect(got > 0, "the other process of the check has ended"));
    have += static_cast<size_t>(got);
  }
  return Status::Ok();
}

Result<Peer> Peer::Start(const Body& body) {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return SystemError("socketpair", errno);
  }
  const pid_t process = fork();
  if (process < 0) return SystemError("fork", errno);
  if (process > 0) {
    close(fds[1]);
    return Peer(process, fds[0]);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close(fds[0]);
  PeerChannel channel(fds[1]);
  const Status status = body(channel);
  // Its own report is the last thing that goes through the channel.
  char text[512] = {};
  status.message().copy(text, sizeof(text) - 1);
  (void)channel.Send(text);
  _exit(status.ok() ? 0 : 1);
}

Peer::Peer(Peer&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      fd_(std::exchange(other.fd_, -1)),
      channel_(fd_) {}

Peer::~Peer() {
  Kill();
  if (fd_ >= 0) close(fd_);
}

void Peer::Kill() {
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

Status Peer::Join() {
  char text[512] = {};
  RONDO_RETURN_IF_ERROR(channel_.Receive(&text));
  int how = 0;
  waitpid(std::exchange(process_, -1), &how, 0);
  RONDO_RETURN_IF_ERROR(
      Expect(WIFEXITED(how), "the other side: signal {}", WTERMSIG(how)));
  return Expect(WEXITSTATUS(how) == 0, "the other side: {}", text);
}

Result<OpenComm> ConnectToPeer(const PluginSide& side, PeerChannel* channel) {
  HandleBytes handle;
  RONDO_RETURN_IF_ERROR(channel->Receive(&handle));
  OpenComm comm(&side.net(), OpenComm::Kind::kSend);
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  while (comm.get() == nullptr) {
    RONDO_RETURN_IF_ERROR(StepConnect(side, &handle, &comm));
    RONDO_RETURN_IF_ERROR(Expect(
        !deadline.expired(), "connect is not ready after {} ms", kPatienceMs));
  }
  return comm;
}

Result<OpenComm> AcceptFromPeer(const PluginSide& side, PeerChannel* channel) {
  OpenComm listen(&side.net(), OpenComm::Kind::kListen);
  HandleBytes handle{};
  RONDO_RETURN_IF_ERROR(
      Succeeds(side.net().Listen(side.context(), side.device(), handle.data(),
                                 listen.out()),
               "listen"));
  RONDO_RETURN_IF_ERROR(channel->Send(handle));
  OpenComm comm(&side.net(), OpenComm::Kind::kReceive);
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  while (comm.get() == nullptr) {
    RONDO_RETURN_IF_ERROR(StepAccept(side, listen, &comm));
    RONDO_RETURN_IF_ERROR(Expect(
        !deadline.expired(), "accept is not ready after {} ms", kPatienceMs));
  }
  return comm;
}

}  // namespace rondo::plugin
