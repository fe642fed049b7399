#include "transports/bootstrap/coordinator.h"

#include <thread>

#include "transports/bootstrap/coordinator_loop.h"
#include "transports/bootstrap/interface.h"
#include "transports/bootstrap/network.h"

namespace rondo {

namespace {

Status CheckAtLeast(const char* name, int value, int minimum) {
  if (value >= minimum) return Status::Ok();
  return InvalidArgument(std::string("coordinator option ") + name + " is " +
                         std::to_string(value) + "; at least " +
                         std::to_string(minimum) + " is accepted");
}

Status CheckOptions(const CoordinatorOptions& options) {
  RONDO_RETURN_IF_ERROR(CheckAtLeast("world_size", options.world_size, 0));
  if (options.world_size > kMaxWorldSize) {
    return InvalidArgument("coordinator option world_size is " +
                           std::to_string(options.world_size) + "; at most " +
                           std::to_string(kMaxWorldSize) + " is accepted");
  }
  RONDO_RETURN_IF_ERROR(CheckAtLeast("heartbeat_ms", options.heartbeat_ms, 1));
  // One late heartbeat must not be a death.
  RONDO_RETURN_IF_ERROR(CheckAtLeast("peer_timeout_ms", options.peer_timeout_ms,
                                     2 * options.heartbeat_ms));
  RONDO_RETURN_IF_ERROR(
      CheckAtLeast("handshake_timeout_ms", options.handshake_timeout_ms, 1));
  return CheckAtLeast("linger_ms", options.linger_ms, 0);
}

}  // namespace

class Coordinator::Service {
 public:
  static Result<std::unique_ptr<Service>> Create(
      const UniqueId& id, const CoordinatorOptions& options,
      FileDescriptor listener) {
    RONDO_ASSIGN_OR_RETURN(ProcessToken process, ThisProcessToken());
    RONDO_ASSIGN_OR_RETURN(Waker waker, Waker::Create());
    std::unique_ptr<Service> service(new Service(
        id, options, process, std::move(listener), std::move(waker)));
    RONDO_ASSIGN_OR_RETURN(
        service->thread_,
        StartServiceThread("rondo-coord",
                           [loop = &service->loop_] { loop->Run(); }));
    return service;
  }

  ~Service() {
    if (!thread_.joinable()) return;
    loop_.RequestStop(Deadline::AfterMs(linger_ms_));
    thread_.join();
  }

  const UniqueId& id() const { return id_; }
  const CoordinatorLoop& loop() const { return loop_; }

 private:
  Service(const UniqueId& id, const CoordinatorOptions& options,
          const ProcessToken& process, FileDescriptor listener, Waker waker)
      : id_(id),
        linger_ms_(options.linger_ms),
        loop_(id, options, process, std::move(listener), std::move(waker)) {}

  const UniqueId id_;
  const int linger_ms_;
  CoordinatorLoop loop_;
  std::thread thread_;
};

Coordinator::Coordinator(std::unique_ptr<Service> service)
    : service_(std::move(service)) {}

Coordinator::~Coordinator() = default;

Result<std::unique_ptr<Coordinator>> Coordinator::Start(
    const CoordinatorOptions& options) {
  RONDO_RETURN_IF_ERROR(CheckOptions(options));
  RONDO_ASSIGN_OR_RETURN(auto interfaces, ListInterfaces());
  RONDO_ASSIGN_OR_RETURN(Interface chosen,
                         ChooseInterface(options.socket_ifname, interfaces));
  SocketAddress address = chosen.address;
  address.port = options.port;
  RONDO_ASSIGN_OR_RETURN(FileDescriptor listener, ListenOn(&address));
  RONDO_ASSIGN_OR_RETURN(UniqueId id, UniqueId::Create(address));
  RONDO_ASSIGN_OR_RETURN(auto service,
                         Service::Create(id, options, std::move(listener)));
  return std::unique_ptr<Coordinator>(new Coordinator(std::move(service)));
}

Result<std::unique_ptr<Coordinator>> Coordinator::StartAt(
    const UniqueId& id, const CoordinatorOptions& options) {
  RONDO_RETURN_IF_ERROR(CheckOptions(options));
  SocketAddress address = id.address();
  Result<FileDescriptor> listener = ListenOn(&address);
  if (!listener.ok()) {
    return listener.status().WithContext(
        "the coordinator's address must be free and belong to this machine");
  }
  RONDO_ASSIGN_OR_RETURN(auto service,
                         Service::Create(id, options, *std::move(listener)));
  return std::unique_ptr<Coordinator>(new Coordinator(std::move(service)));
}

const UniqueId& Coordinator::unique_id() const { return service_->id(); }

CoordinatorStats Coordinator::stats() const { return service_->loop().stats(); }

int Coordinator::joined() const { return service_->loop().joined(); }

}  // namespace rondo
