#include "plugin/net/net_library.h"

#include <utility>

#include "fmt/format.h"
#include "plugin/net/small_protocols.h"
#include "transports/base/environment.h"
#include "transports/base/log.h"
#include "transports/ucx/ucx_process.h"

namespace rondo::plugin {
namespace {

// The transports of UCX for a device, unless the user has chosen.
std::string TransportsFor(const NetDevice& device,
                          const Parameters& parameters) {
  if (!parameters.ucx_tls.empty()) return parameters.ucx_tls;
  const std::string chosen =
      EnvironmentReader::FromProcess().Get("UCX_TLS").value_or("");
  if (!chosen.empty()) return chosen;
  return device.rdma ? "ib" : "tcp";
}

}  // namespace

NetLibrary& NetLibrary::Get() {
  static NetLibrary library;
  return library;
}

Status NetLibrary::Init() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (ready_) return Status::Ok();
  RONDO_ASSIGN_OR_RETURN(parameters_, Parameters::LoadFromProcess());
  RONDO_ASSIGN_OR_RETURN(devices_,
                         FindNetDevices("/sys", parameters_.net_devices,
                                        parameters_.socket_ifname));
  ready_ = true;
  for (const NetDevice& device : devices_) {
    RONDO_LOG_INFO(NET, "device {}: {} Mbps, PCI {}, UCX transports {}",
                   device.name, device.speed_mbps,
                   device.pci_path.empty() ? "none" : device.pci_path,
                   TransportsFor(device, parameters_));
  }
  const std::string advice = SmallProtocolAdvice(
      TransportsFor(devices_.front(), parameters_),
      EnvironmentReader::FromProcess().Get("NCCL_PROTO").value_or(""));
  if (!advice.empty()) RONDO_LOG_WARN("{}", advice);
  return Status::Ok();
}

Status NetLibrary::Devices(int* count) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!ready_) return InvalidUsage("devices() was called before init()");
  *count = static_cast<int>(devices_.size());
  return Status::Ok();
}

Result<const NetDevice*> NetLibrary::Device(int index) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (index < 0 || static_cast<size_t>(index) >= devices_.size()) {
    return InvalidArgument(fmt::format("device {}; accepted are 0 to {}", index,
                                       devices_.size() - 1));
  }
  return static_cast<const NetDevice*>(&devices_[static_cast<size_t>(index)]);
}

bool NetLibrary::forces_flush() {
  std::lock_guard<std::mutex> lock(mutex_);
  return parameters_.net_force_flush;
}

Result<std::shared_ptr<UcxContext>> NetLibrary::OpenShared(
    const NetDevice& device) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::weak_ptr<UcxContext>& known = contexts_[device.name];
  if (auto open = known.lock()) return open;
  UcxWorkerOptions options;
  options.device = device.name;
  options.transports = TransportsFor(device, parameters_);
  options.features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_RMA;
  options.shared = true;
  // UCX 1.13 pushes a whole rendezvous in one call of progress: at 1 MiB on
  // loopback 3 ms and more, where eager fragments take 0.5 to 1.2 ms. Raw UCX
  // is faster with rendezvous; through this plugin no difference was measured.
  if (options.transports == "tcp") options.defaults["RNDV_THRESH"] = "inf";
  auto opened = UcxContext::Open(options);
  if (!opened.ok() && opened.status().code() == Code::kInvalidArgument &&
      options.transports != "tcp" && options.transports != "ib") {
    // Transports inside a host, chosen by the user, have no network device.
    options.device.clear();
    opened = UcxContext::Open(options);
  }
  // UCX also installs handlers for signals, which are the application's.
  RemoveUcxSignalHandlers();
  if (!opened.ok()) return opened.status().WithContext(device.name);
  known = *opened;
  return *opened;
}

OpenContext NetLibrary::Opener(const NetDevice& device) {
  return [this, &device] { return OpenShared(device); };
}

bool NetLibrary::SupportsCuda(const NetDevice& device) {
  // Over plain sockets UCX would copy through the host, with calls of CUDA that
  // NCCL does not allow there.
  if (!device.rdma) return false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto known = cuda_.find(device.name);
    if (known != cuda_.end()) return known->second;
  }
  auto context = OpenShared(device);
  const bool supports = context.ok() && (*context)->Supports(MemoryKind::kCuda);
  std::lock_guard<std::mutex> lock(mutex_);
  return cuda_[device.name] = supports;
}

Result<std::unique_ptr<NetListener>> NetLibrary::Listen(int device,
                                                        NetHandle* handle) {
  RONDO_ASSIGN_OR_RETURN(const NetDevice* chosen, Device(device));
  RONDO_ASSIGN_OR_RETURN(
      auto listener,
      NetListener::Open(chosen->address, parameters_.net_peer_timeout_s * 1000,
                        Opener(*chosen)));
  listener->FillHandle(handle);
  return listener;
}

Result<std::unique_ptr<SendComm>> NetLibrary::Connect(int device,
                                                      NetHandle* handle) {
  RONDO_ASSIGN_OR_RETURN(const NetDevice* chosen, Device(device));
  if (handle->magic != kHandleMagic) {
    return InvalidArgument(
        "the handle to connect to was not made by this plugin");
  }
  std::unique_ptr<NetConnector> connector;
  if (handle->connect_id != 0) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = connecting_.find(handle->connect_id);
    if (found != connecting_.end()) {
      connector = std::move(found->second);
      connecting_.erase(found);
    }
  }
  if (connector == nullptr) {
    RONDO_ASSIGN_OR_RETURN(
        connector,
        NetConnector::Start(*handle, parameters_.net_peer_timeout_s * 1000,
                            Opener(*chosen)));
  }
  std::unique_ptr<SendComm> comm;
  RONDO_RETURN_IF_ERROR(connector->Advance(&comm));
  if (comm != nullptr) return comm;
  std::lock_guard<std::mutex> lock(mutex_);
  if (handle->connect_id == 0) handle->connect_id = next_connect_id_++;
  connecting_[handle->connect_id] = std::move(connector);
  return comm;
}

}  // namespace rondo::plugin
