// The tables that NCCL looks up: ncclNetPlugin_v8 to _v12.
//
// Every version has the same bodies; what differs is where a context, a
// configuration or a profiler handle stands in the argument list.
#include "plugin/abi/net_tables.h"

#include <cstring>
#include <exception>

#include "fmt/format.h"
#include "plugin/net/net_library.h"
#include "plugin/net/net_result.h"
#include "transports/base/log.h"

namespace rondo::plugin {
namespace {

using nccl::NetDeviceHandle;

constexpr char kName[] = "Rondo";

// Runs a body; no exception may reach NCCL.
template <typename Body>
int Guarded(Body body) noexcept {
  try {
    return Report(body());
  } catch (const std::exception& error) {
    return Report(Internal(error.what()));
  }
}

Status NeedsArgument(const void* argument, const char* name) {
  if (argument != nullptr) return Status::Ok();
  return InvalidArgument(std::string(name) + " is null");
}

int InitWith(nccl::Logger logger) {
  return Guarded([&] {
    LogThrough(logger);
    return NetLibrary::Get().Init().WithContext("initialization failed");
  });
}

int Devices(int* count) {
  return Guarded([&] { return NetLibrary::Get().Devices(count); });
}

template <typename Properties>
Status Fill(int index, Properties* properties) {
  RONDO_ASSIGN_OR_RETURN(const NetDevice* device,
                         NetLibrary::Get().Device(index));
  Properties filled{};
  // NCCL writes to neither; its declaration has no const.
  filled.name = device->name.c_str();
  filled.pci_path =
      device->pci_path.empty() ? nullptr : device->pci_path.c_str();
  filled.guid = device->guid;
  filled.pointer_support = nccl::kPointerHost;
  if (NetLibrary::Get().SupportsCuda(*device)) {
    filled.pointer_support |= nccl::kPointerCuda | nccl::kPointerDmaBuf;
  }
  filled.speed_mbps = device->speed_mbps;
  filled.port = device->port;
  filled.max_comms = 1 << 16;
  filled.max_receives = kMaxReceives;
  filled.net_device_type = nccl::kNetDeviceHost;
  filled.net_device_version = nccl::kNetDeviceVersionNone;
  if constexpr (requires { filled.virtual_device; }) {
    filled.force_flush = NetLibrary::Get().forces_flush() ? 1 : 0;
    filled.virtual_device.count = 1;
    filled.virtual_device.devices[0] = index;
    filled.max_p2p_bytes = nccl::kMaxNetBytes;
    filled.max_collective_bytes = nccl::kMaxNetBytes;
  }
  if constexpr (requires { filled.max_multi_request_size; }) {
    filled.max_multi_request_size = 1;
  }
  if constexpr (requires { filled.rail_id; }) {
    filled.rail_id = nccl::kNetIdUndefined;
    filled.plane_id = nccl::kNetIdUndefined;
  }
  *properties = filled;
  return Status::Ok();
}

template <typename Properties>
int GetProperties(int index, Properties* properties) {
  return Guarded([&] { return Fill(index, properties); });
}

int Listen(int device, void* handle, void** listen_comm) {
  return Guarded([&]() -> Status {
    RONDO_RETURN_IF_ERROR(NeedsArgument(handle, "the handle"));
    *listen_comm = nullptr;
    NetHandle own{};
    RONDO_ASSIGN_OR_RETURN(auto listener,
                           NetLibrary::Get().Listen(device, &own));
    std::memset(handle, 0, nccl::kHandleBytes);
    std::memcpy(handle, &own, sizeof(own));
    *listen_comm = listener.release();
    return Status::Ok();
  });
}

int Connect(int device, void* handle, void** send_comm,
            NetDeviceHandle** device_handle) {
  return Guarded([&]() -> Status {
    RONDO_RETURN_IF_ERROR(NeedsArgument(handle, "the handle"));
    *send_comm = nullptr;
    if (device_handle != nullptr) *device_handle = nullptr;
    NetHandle own{};
    std::memcpy(&own, handle, sizeof(own));
    auto comm = NetLibrary::Get().Connect(device, &own);
    std::memcpy(handle, &own, sizeof(own));
    if (!comm.ok()) return comm.status();
    *send_comm = static_cast<NetComm*>((*comm).release());
    return Status::Ok();
  });
}

int Accept(void* listen_comm, void** receive_comm,
           NetDeviceHandle** device_handle) {
  return Guarded([&]() -> Status {
    *receive_comm = nullptr;
    if (device_handle != nullptr) *device_handle = nullptr;
    RONDO_RETURN_IF_ERROR(NeedsArgument(listen_comm, "the listen comm"));
    std::unique_ptr<ReceiveComm> comm;
    RONDO_RETURN_IF_ERROR(
        static_cast<NetListener*>(listen_comm)->Advance(&comm));
    *receive_comm = static_cast<NetComm*>(comm.release());
    return Status::Ok();
  });
}

int RegisterDmaBuf(void* comm, void* data, size_t bytes, int type,
                   uint64_t /*offset*/, int fd, void** memory_handle) {
  return Guarded([&]() -> Status {
    *memory_handle = nullptr;
    RONDO_RETURN_IF_ERROR(NeedsArgument(comm, "the comm"));
    RONDO_ASSIGN_OR_RETURN(auto memory, static_cast<NetComm*>(comm)->Register(
                                            data, bytes, type, fd));
    *memory_handle = memory.release();
    return Status::Ok();
  });
}

int RegisterMemory(void* comm, void* data, size_t bytes, int type,
                   void** memory_handle) {
  return RegisterDmaBuf(comm, data, bytes, type, 0, -1, memory_handle);
}

int DeregisterMemory(void* comm, void* memory_handle) {
  return Guarded([&] {
    auto* memory = static_cast<NetMemory*>(memory_handle);
    if (comm != nullptr) static_cast<NetComm*>(comm)->Forget(memory);
    delete memory;
    return Status::Ok();
  });
}

int Isend(void* send_comm, void* data, size_t bytes, int tag,
          void* memory_handle, void* /*profiler_handle*/, void** request) {
  return Guarded([&]() -> Status {
    *request = nullptr;
    RONDO_RETURN_IF_ERROR(NeedsArgument(send_comm, "the send comm"));
    NetRequest* posted = nullptr;
    RONDO_RETURN_IF_ERROR(
        static_cast<SendComm*>(static_cast<NetComm*>(send_comm))
            ->Send(data, bytes, tag, static_cast<NetMemory*>(memory_handle),
                   &posted));
    *request = posted;
    return Status::Ok();
  });
}

int Irecv(void* receive_comm, int count, void** data, size_t* bytes, int* tags,
          void** memory_handles, void** /*profiler_handles*/, void** request) {
  return Guarded([&]() -> Status {
    *request = nullptr;
    RONDO_RETURN_IF_ERROR(NeedsArgument(receive_comm, "the receive comm"));
    NetRequest* posted = nullptr;
    RONDO_RETURN_IF_ERROR(
        static_cast<ReceiveComm*>(static_cast<NetComm*>(receive_comm))
            ->Receive(count, data, bytes, tags, memory_handles, &posted));
    *request = posted;
    return Status::Ok();
  });
}

int Iflush(void* receive_comm, int count, void** data, int* bytes,
           void** memory_handles, void** request) {
  return Guarded([&]() -> Status {
    *request = nullptr;
    RONDO_RETURN_IF_ERROR(NeedsArgument(receive_comm, "the receive comm"));
    NetRequest* posted = nullptr;
    RONDO_RETURN_IF_ERROR(
        static_cast<ReceiveComm*>(static_cast<NetComm*>(receive_comm))
            ->Flush(count, data, bytes, memory_handles, &posted));
    *request = posted;
    return Status::Ok();
  });
}

int Test(void* request, int* done, int* bytes) {
  return Guarded([&]() -> Status {
    RONDO_RETURN_IF_ERROR(NeedsArgument(request, "the request"));
    auto* posted = static_cast<NetRequest*>(request);
    return posted->comm->Test(posted, done, bytes);
  });
}

int CloseComm(void* comm) {
  return Guarded([&] {
    delete static_cast<NetComm*>(comm);
    return Status::Ok();
  });
}

int CloseListen(void* listen_comm) {
  return Guarded([&] {
    delete static_cast<NetListener*>(listen_comm);
    return Status::Ok();
  });
}

// Before version 10 there are no profiler handles, and before version 9 sizes
// are ints.
int IsendV9(void* comm, void* data, size_t bytes, int tag, void* memory,
            void** request) {
  return Isend(comm, data, bytes, tag, memory, nullptr, request);
}

int IrecvV9(void* comm, int count, void** data, size_t* bytes, int* tags,
            void** memories, void** request) {
  return Irecv(comm, count, data, bytes, tags, memories, nullptr, request);
}

int IsendV8(void* comm, void* data, int bytes, int tag, void* memory,
            void** request) {
  if (bytes < 0) {
    *request = nullptr;
    return Report(InvalidArgument(fmt::format("sending {} bytes", bytes)));
  }
  return Isend(comm, data, static_cast<size_t>(bytes), tag, memory, nullptr,
               request);
}

int IrecvV8(void* comm, int count, void** data, int* bytes, int* tags,
            void** memories, void** request) {
  size_t wide[kMaxReceives] = {};
  for (int i = 0; i < count && i < kMaxReceives; ++i) {
    wide[i] = static_cast<size_t>(bytes[i]);
  }
  return Irecv(comm, count, data, wide, tags, memories, nullptr, request);
}

int InitV10(nccl::Logger logger, nccl::ProfilerCallback) {
  return InitWith(logger);
}

int ConnectV10(int device, nccl::CommConfig*, void* handle, void** send_comm,
               NetDeviceHandle** device_handle) {
  return Connect(device, handle, send_comm, device_handle);
}

// NCCL wants a context that is not null; there is nothing to keep in it.
char context_of_all = 0;

int InitV11(void** context, uint64_t, nccl::CommConfig*, nccl::Logger logger,
            nccl::ProfilerCallback) {
  *context = nullptr;
  const int result = InitWith(logger);
  if (result == nccl::kSuccess) *context = &context_of_all;
  return result;
}

int ListenV11(void*, int device, void* handle, void** listen_comm) {
  return Listen(device, handle, listen_comm);
}

int ConnectV11(void*, int device, void* handle, void** send_comm,
               NetDeviceHandle** device_handle) {
  return Connect(device, handle, send_comm, device_handle);
}

// Also after an init() that failed, as NCCL 2.28.9 does.
int Finalize(void*) { return nccl::kSuccess; }

// Hints on the peers to come; nothing here depends on their number.
int SetAttributes(void*, nccl::NetAttributes*) { return nccl::kSuccess; }

template <typename Net>
constexpr Net WithContext() {
  return {kName,          InitV11,
          Devices,        GetProperties<typename Net::Properties>,
          ListenV11,      ConnectV11,
          Accept,         RegisterMemory,
          RegisterDmaBuf, DeregisterMemory,
          Isend,          Irecv,
          Iflush,         Test,
          CloseComm,      CloseComm,
          CloseListen,    nullptr,
          nullptr,        nullptr,
          Finalize,       SetAttributes};
}

}  // namespace

#define RONDO_EXPORT_ extern "C" __attribute__((visibility("default")))

RONDO_EXPORT_ const nccl::NetV8 ncclNetPlugin_v8 = {
    kName,          InitWith,
    Devices,        GetProperties<nccl::PropertiesV8>,
    Listen,         Connect,
    Accept,         RegisterMemory,
    RegisterDmaBuf, DeregisterMemory,
    IsendV8,        IrecvV8,
    Iflush,         Test,
    CloseComm,      CloseComm,
    CloseListen,    nullptr,
    nullptr};

RONDO_EXPORT_ const nccl::NetV9 ncclNetPlugin_v9 = {
    kName,          InitWith,
    Devices,        GetProperties<nccl::PropertiesV9>,
    Listen,         Connect,
    Accept,         RegisterMemory,
    RegisterDmaBuf, DeregisterMemory,
    IsendV9,        IrecvV9,
    Iflush,         Test,
    CloseComm,      CloseComm,
    CloseListen,    nullptr,
    nullptr,        nullptr};

RONDO_EXPORT_ const nccl::NetV10 ncclNetPlugin_v10 = {
    kName,          InitV10,
    Devices,        GetProperties<nccl::PropertiesV10>,
    Listen,         ConnectV10,
    Accept,         RegisterMemory,
    RegisterDmaBuf, DeregisterMemory,
    Isend,          Irecv,
    Iflush,         Test,
    CloseComm,      CloseComm,
    CloseListen,    nullptr,
    nullptr,        nullptr};

RONDO_EXPORT_ const nccl::NetV11 ncclNetPlugin_v11 =
    WithContext<nccl::NetV11>();

RONDO_EXPORT_ const nccl::NetV12 ncclNetPlugin_v12 =
    WithContext<nccl::NetV12>();

}  // namespace rondo::plugin
