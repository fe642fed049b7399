// The tables of the bad plugin, one for each version, over the same bodies.
#include <vector>

#include "plugin/abi/net_tables.h"
#include "tests/plugin/socket/bad_library.h"
#include "tests/plugin/socket/bad_receive.h"
#include "tests/plugin/socket/faults.h"

namespace rondo::bad_plugin {
namespace {

template <typename Properties>
int GetProperties(int device, Properties* properties) {
  if (CheckDevice(device) != nccl::kSuccess) return nccl::kInvalidArgument;
  // The names and paths of NCCL's properties are never written to.
  properties->name = "lo";
  properties->pci_path = nullptr;
  properties->guid = Guid();
  properties->pointer_support = nccl::kPointerHost;
  if (!Has(Fault::kUnsetProperties)) properties->registration_is_global = 0;
  properties->speed_mbps = 10'000;
  properties->port = 0;
  properties->latency_us = 0;
  properties->max_comms = 1 << 16;
  properties->max_receives = kMostReceives;
  properties->net_device_type = nccl::kNetDeviceHost;
  properties->net_device_version = nccl::kNetDeviceVersionNone;
  if constexpr (requires { properties->virtual_device; }) {
    properties->force_flush = 0;
    if (!Has(Fault::kForgetsVirtualDevice)) {
      properties->virtual_device.count = 1;
      properties->virtual_device.devices[0] = device;
    }
    properties->max_p2p_bytes = uint64_t{1} << 30;
    properties->max_collective_bytes = uint64_t{1} << 30;
  }
  if constexpr (requires { properties->max_multi_request_size; }) {
    properties->max_multi_request_size = 1;
  }
  if constexpr (requires { properties->rail_id; }) {
    properties->rail_id = nccl::kNetIdUndefined;
    properties->plane_id = nccl::kNetIdUndefined;
  }
  return nccl::kSuccess;
}

int IsendInt(void* comm, void* data, int bytes, int tag, void* memory,
             void** request) {
  return Isend(comm, data, static_cast<size_t>(bytes), tag, memory, request);
}

int IrecvInt(void* comm, int count, void** data, int* bytes, int* tags,
             void** memory, void** request) {
  std::vector<size_t> wide;
  if (count > 0) wide.assign(bytes, bytes + count);
  return Irecv(comm, count, data, wide.data(), tags, memory, request);
}

int IrecvSize(void* comm, int count, void** data, size_t* bytes, int* tags,
              void** memory, void** request) {
  return Irecv(comm, count, data, bytes, tags, memory, request);
}

int IsendProfiled(void* comm, void* data, size_t bytes, int tag, void* memory,
                  void* /*profiler*/, void** request) {
  return Isend(comm, data, bytes, tag, memory, request);
}

int IrecvProfiled(void* comm, int count, void** data, size_t* bytes, int* tags,
                  void** memory, void** /*profilers*/, void** request) {
  return Irecv(comm, count, data, bytes, tags, memory, request);
}

// What stands alike in every table.
template <typename Net>
Net Common() {
  Net net{};
  net.name = kName;
  net.devices = &Devices;
  net.get_properties = &GetProperties<typename Net::Properties>;
  net.accept = &Accept;
  net.register_memory = &RegisterMemory;
  net.register_dma_buf = &RegisterDmaBuf;
  net.deregister_memory = &DeregisterMemory;
  net.iflush = &Iflush;
  net.test = &Test;
  net.close_send = &CloseComm;
  net.close_receive = &CloseComm;
  net.close_listen = &CloseListen;
  return net;
}

template <typename Net>
Net WithoutContext() {
  Net net = Common<Net>();
  net.listen = &Listen;
  if constexpr (Net::kVersion < 10) {
    net.init = [](nccl::Logger logger) { return Init(nullptr, logger); };
    net.connect = &Connect;
    net.isend = [] {
      if constexpr (Net::kVersion == 8) return &IsendInt;
      if constexpr (Net::kVersion > 8) return &Isend;
    }();
    net.irecv = [] {
      if constexpr (Net::kVersion == 8) return &IrecvInt;
      if constexpr (Net::kVersion > 8) return &IrecvSize;
    }();
  } else {
    net.init = [](nccl::Logger logger, nccl::ProfilerCallback) {
      return Init(nullptr, logger);
    };
    net.connect = [](int device, nccl::CommConfig*, void* handle, void** comm,
                     nccl::NetDeviceHandle** device_handle) {
      return Connect(device, handle, comm, device_handle);
    };
    net.isend = &IsendProfiled;
    net.irecv = &IrecvProfiled;
  }
  return net;
}

template <typename Net>
Net WithContext() {
  Net net = Common<Net>();
  net.init = [](void** context, uint64_t, nccl::CommConfig*,
                nccl::Logger logger,
                nccl::ProfilerCallback) { return Init(context, logger); };
  net.listen = [](void*, int device, void* handle, void** comm) {
    return Listen(device, handle, comm);
  };
  net.connect = [](void*, int device, void* handle, void** comm,
                   nccl::NetDeviceHandle** device_handle) {
    return Connect(device, handle, comm, device_handle);
  };
  net.isend = &IsendProfiled;
  net.irecv = &IrecvProfiled;
  net.finalize = &Finalize;
  net.set_attributes = &SetAttributes;
  return net;
}

}  // namespace
}  // namespace rondo::bad_plugin

// What NCCL looks up.
extern "C" {
#define RONDO_EXPORTED __attribute__((visibility("default"))) extern const
RONDO_EXPORTED rondo::nccl::NetV8 ncclNetPlugin_v8;
RONDO_EXPORTED rondo::nccl::NetV9 ncclNetPlugin_v9;
RONDO_EXPORTED rondo::nccl::NetV10 ncclNetPlugin_v10;
RONDO_EXPORTED rondo::nccl::NetV11 ncclNetPlugin_v11;
RONDO_EXPORTED rondo::nccl::NetV12 ncclNetPlugin_v12;
#undef RONDO_EXPORTED
}

const rondo::nccl::NetV8 ncclNetPlugin_v8 =
    rondo::bad_plugin::WithoutContext<rondo::nccl::NetV8>();
const rondo::nccl::NetV9 ncclNetPlugin_v9 =
    rondo::bad_plugin::WithoutContext<rondo::nccl::NetV9>();
const rondo::nccl::NetV10 ncclNetPlugin_v10 =
    rondo::bad_plugin::WithoutContext<rondo::nccl::NetV10>();
const rondo::nccl::NetV11 ncclNetPlugin_v11 =
    rondo::bad_plugin::WithContext<rondo::nccl::NetV11>();
const rondo::nccl::NetV12 ncclNetPlugin_v12 =
    rondo::bad_plugin::WithContext<rondo::nccl::NetV12>();
