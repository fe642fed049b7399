// How the bad plugin's connections come about: a listening socket on lo, whose
// port is in the handle, as is the socket of a connect that is on its way.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "tests/plugin/socket/bad_library.h"
#include "tests/plugin/socket/bad_receive.h"
#include "tests/plugin/socket/bad_send.h"
#include "tests/plugin/socket/faults.h"
#include "transports/base/clock.h"

namespace rondo::bad_plugin {
namespace {

constexpr uint32_t kHandleMagic = 0xbad0bad0;
// So small that a large message needs its receiver.
constexpr int kSocketBytes = 256 << 10;
constexpr int kBacklog = 256;

struct Handle {
  uint32_t magic;
  uint16_t port;   // in network byte order
  int32_t socket;  // 0: connect was not called yet
};
static_assert(sizeof(Handle) <= nccl::kHandleBytes);

struct Listener {
  int fd;
  bool accepted = false;
  int64_t first_accept_ns = 0;
};

std::atomic<bool> poisoned{false};
std::atomic<int> connections{0};

int SystemFailure(const char* what) {
  Warn(what);
  return nccl::kSystemError;
}

sockaddr_in OnLoopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = port;
  return address;
}

int OpenSocket() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  for (const int option : {SO_SNDBUF, SO_RCVBUF}) {
    setsockopt(fd, SOL_SOCKET, option, &kSocketBytes, sizeof(kSocketBytes));
  }
  return fd;
}

// 1 when it is connected, 0 when not yet, -1 when it cannot be.
int Connected(int fd) {
  pollfd ready{fd, POLLOUT, 0};
  if (poll(&ready, 1, 0) <= 0) return 0;
  int error = 0;
  socklen_t length = sizeof(error);
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
  return error == 0 ? 1 : -1;
}

int StartConnect(Handle* handle) {
  const int fd = OpenSocket();
  if (fd < 0) return SystemFailure("connect: no socket");
  const sockaddr_in to = OnLoopback(handle->port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0 &&
      errno != EINPROGRESS) {
    close(fd);
    return SystemFailure("connect: nobody listens");
  }
  handle->socket = fd;
  return nccl::kSuccess;
}

// For a fault: what follows a connect that waits for its accept.
void WaitForPeer(int fd) {
  pollfd accepted{fd, POLLIN, 0};
  poll(&accepted, 1, 1500);
}

}  // namespace

int Listen(int device, void* handle, void** listen_comm) {
  *listen_comm = nullptr;
  if (CheckDevice(device) != nccl::kSuccess) return nccl::kInvalidArgument;
  if (Has(Fault::kListensToNull)) return nccl::kSuccess;
  const int fd = OpenSocket();
  if (fd < 0) return SystemFailure("listen: no socket");
  sockaddr_in own = OnLoopback(0);
  socklen_t length = sizeof(own);
  auto* address = reinterpret_cast<sockaddr*>(&own);
  if (bind(fd, address, length) != 0 || listen(fd, kBacklog) != 0 ||
      getsockname(fd, address, &length) != 0) {
    close(fd);
    return SystemFailure("listen: no port");
  }
  const Handle made{kHandleMagic, own.sin_port, 0};
  std::memcpy(handle, &made, sizeof(made));
  if (Has(Fault::kWritesPastHandle)) {
    static_cast<char*>(handle)[nccl::kHandleBytes] = 0;
  }
  *listen_comm = new Listener{fd};
  return nccl::kSuccess;
}

int Connect(int device, void* handle, void** send_comm,
            nccl::NetDeviceHandle** device_handle) {
  *send_comm = nullptr;
  if (device_handle != nullptr || Has(Fault::kDeviceHandleWritten)) {
    *device_handle = nullptr;
  }
  if (CheckDevice(device) != nccl::kSuccess) return nccl::kInvalidArgument;
  if (poisoned || (Has(Fault::kFewConnections) && connections > 8)) {
    return SystemFailure("connect: no more");
  }
  Handle own;
  std::memcpy(&own, handle, sizeof(own));
  if (own.magic != kHandleMagic) {
    Warn("connect: no handle of this plugin");
    return nccl::kInvalidArgument;
  }
  if (own.socket == 0) {
    const int started = StartConnect(&own);
    std::memcpy(handle, &own, sizeof(own));
    return started;
  }
  const int connected = Connected(own.socket);
  if (connected == 0) return nccl::kSuccess;
  if (connected < 0) {
    close(own.socket);
    return SystemFailure("connect: refused");
  }
  if (Has(Fault::kBlockingConnect)) WaitForPeer(own.socket);
  ++connections;
  *send_comm = static_cast<Comm*>(new SendComm(own.socket));
  return nccl::kSuccess;
}

int Accept(void* listen_comm, void** receive_comm,
           nccl::NetDeviceHandle** device_handle) {
  auto* listener = static_cast<Listener*>(listen_comm);
  *receive_comm = nullptr;
  if (device_handle != nullptr) *device_handle = nullptr;
  const int fd =
      accept4(listener->fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) {
    listener->accepted = true;
    *receive_comm = static_cast<Comm*>(new ReceiveComm(fd));
    return nccl::kSuccess;
  }
  if (listener->first_accept_ns == 0) listener->first_accept_ns = NowNs();
  if (Has(Fault::kAcceptGivesUp) &&
      NowNs() - listener->first_accept_ns > 50'000'000) {
    return SystemFailure("accept: nobody came");
  }
  if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) {
    return nccl::kSuccess;
  }
  return SystemFailure("accept");
}

int CloseListen(void* listen_comm) {
  auto* listener = static_cast<Listener*>(listen_comm);
  const bool refuse = Has(Fault::kListenerNeedsAccept) && !listener->accepted;
  close(listener->fd);
  delete listener;
  return refuse ? nccl::kInvalidUsage : nccl::kSuccess;
}

int SetAttributes(void* /*context*/, nccl::NetAttributes* attributes) {
  if (Has(Fault::kAttributesPoison) &&
      attributes->send.max_concurrent_peers < 1) {
    poisoned = true;
  }
  return nccl::kSuccess;
}

}  // namespace rondo::bad_plugin
