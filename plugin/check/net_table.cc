#include "plugin/check/net_table.h"

#include <cstring>
#include <limits>
#include <vector>

namespace rondo::plugin {
namespace {

using nccl::NetDeviceHandle;

template <typename Raw>
void Widen(const Raw& raw, nccl::PropertiesV12* wide) {
  *wide = {};
  wide->name = raw.name;
  wide->pci_path = raw.pci_path;
  wide->guid = raw.guid;
  wide->pointer_support = raw.pointer_support;
  wide->registration_is_global = raw.registration_is_global;
  wide->speed_mbps = raw.speed_mbps;
  wide->port = raw.port;
  wide->latency_us = raw.latency_us;
  wide->max_comms = raw.max_comms;
  wide->max_receives = raw.max_receives;
  wide->net_device_type = raw.net_device_type;
  wide->net_device_version = raw.net_device_version;
  if constexpr (requires { raw.virtual_device; }) {
    wide->force_flush = raw.force_flush;
    wide->virtual_device.count = raw.virtual_device.count;
    std::memcpy(wide->virtual_device.devices, raw.virtual_device.devices,
                sizeof(raw.virtual_device.devices));
    wide->max_p2p_bytes = raw.max_p2p_bytes;
    wide->max_collective_bytes = raw.max_collective_bytes;
  }
  if constexpr (requires { raw.max_multi_request_size; }) {
    wide->max_multi_request_size = raw.max_multi_request_size;
  }
  if constexpr (requires { raw.rail_id; }) {
    wide->rail_id = raw.rail_id;
    wide->plane_id = raw.plane_id;
  }
}

template <typename Net>
class TableOf final : public NetTable {
 public:
  explicit TableOf(const Net* net) : net_(net) {}

  int version() const override { return kVersion; }
  const char* name() const override { return net_->name; }
  bool has_finalize() const override {
    if constexpr (kVersion >= 11) return net_->finalize != nullptr;
    return false;
  }
  bool has_set_attributes() const override {
    if constexpr (kVersion >= 11) return net_->set_attributes != nullptr;
    return false;
  }
  bool has_receive_consumed() const override {
    return net_->receive_consumed != nullptr;
  }
  bool has_make_virtual_device() const override {
    if constexpr (kVersion >= 9) return net_->make_virtual_device != nullptr;
    return false;
  }

  int Init(void** context, uint64_t comm_id, nccl::Logger logger) override {
    if constexpr (kVersion >= 11) {
      nccl::CommConfig config{nccl::kTrafficClassUndefined};
      return net_->init(context, comm_id, &config, logger, nullptr);
    } else {
      *context = nullptr;
      if constexpr (kVersion == 10) return net_->init(logger, nullptr);
      if constexpr (kVersion < 10) return net_->init(logger);
    }
  }
  int Devices(int* count) override { return net_->devices(count); }
  int GetProperties(int device, nccl::PropertiesV12* properties) override {
    typename Net::Properties raw;
    std::memset(static_cast<void*>(&raw), 0xa5, sizeof(raw));
    const int result = net_->get_properties(device, &raw);
    if (result == nccl::kSuccess) Widen(raw, properties);
    return result;
  }
  int Listen(void* context, int device, void* handle,
             void** listen_comm) override {
    if constexpr (kVersion >= 11) {
      return net_->listen(context, device, handle, listen_comm);
    } else {
      return net_->listen(device, handle, listen_comm);
    }
  }
  int Connect(void* context, int device, void* handle, void** send_comm,
              NetDeviceHandle** device_handle) override {
    if constexpr (kVersion >= 11) {
      return net_->connect(context, device, handle, send_comm, device_handle);
    } else if constexpr (kVersion == 10) {
      nccl::CommConfig config{nccl::kTrafficClassUndefined};
      return net_->connect(device, &config, handle, send_comm, device_handle);
    } else {
      return net_->connect(device, handle, send_comm, device_handle);
    }
  }
  int Accept(void* listen_comm, void** receive_comm,
             NetDeviceHandle** device_handle) override {
    return net_->accept(listen_comm, receive_comm, device_handle);
  }

  int RegisterMemory(void* comm, void* data, size_t bytes, int type,
                     void** memory_handle) override {
    return net_->register_memory(comm, data, bytes, type, memory_handle);
  }
  int RegisterDmaBuf(void* comm, void* data, size_t bytes, int type,
                     uint64_t offset, int fd, void** memory_handle) override {
    return net_->register_dma_buf(comm, data, bytes, type, offset, fd,
                                  memory_handle);
  }
  int DeregisterMemory(void* comm, void* memory_handle) override {
    return net_->deregister_memory(comm, memory_handle);
  }

  int Isend(void* send_comm, void* data, size_t bytes, int tag,
            void* memory_handle, void** request) override {
    if constexpr (kVersion >= 10) {
      return net_->isend(send_comm, data, bytes, tag, memory_handle, nullptr,
                         request);
    } else if constexpr (kVersion == 9) {
      return net_->isend(send_comm, data, bytes, tag, memory_handle, request);
    } else {
      if (!FitsInt(bytes)) return nccl::kInvalidArgument;
      return net_->isend(send_comm, data, static_cast<int>(bytes), tag,
                         memory_handle, request);
    }
  }
  int Irecv(void* receive_comm, int count, void** data, size_t* bytes,
            int* tags, void** memory_handles, void** request) override {
    if constexpr (kVersion >= 10) {
      return net_->irecv(receive_comm, count, data, bytes, tags, memory_handles,
                         nullptr, request);
    } else if constexpr (kVersion == 9) {
      return net_->irecv(receive_comm, count, data, bytes, tags, memory_handles,
                         request);
    } else {
      std::vector<int> narrow;
      for (int i = 0; i < count; ++i) {
        if (!FitsInt(bytes[i])) return nccl::kInvalidArgument;
        narrow.push_back(static_cast<int>(bytes[i]));
      }
      return net_->irecv(receive_comm, count, data, narrow.data(), tags,
                         memory_handles, request);
    }
  }
  int Iflush(void* receive_comm, int count, void** data, int* bytes,
             void** memory_handles, void** request) override {
    return net_->iflush(receive_comm, count, data, bytes, memory_handles,
                        request);
  }
  int Test(void* request, int* done, int* bytes) override {
    return net_->test(request, done, bytes);
  }

  int CloseSend(void* send_comm) override {
    return net_->close_send(send_comm);
  }
  int CloseReceive(void* receive_comm) override {
    return net_->close_receive(receive_comm);
  }
  int CloseListen(void* listen_comm) override {
    return net_->close_listen(listen_comm);
  }
  int ReceiveConsumed(void* receive_comm, int count, void* request) override {
    if (!has_receive_consumed()) return nccl::kSuccess;
    return net_->receive_consumed(receive_comm, count, request);
  }
  int Finalize(void* context) override {
    if (!has_finalize()) return nccl::kSuccess;
    if constexpr (kVersion >= 11) return net_->finalize(context);
    return nccl::kSuccess;
  }
  int SetAttributes(void* context, nccl::NetAttributes* attributes) override {
    if (!has_set_attributes()) return nccl::kSuccess;
    if constexpr (kVersion >= 11) {
      return net_->set_attributes(context, attributes);
    }
    return nccl::kSuccess;
  }

 private:
  static constexpr int kVersion = Net::kVersion;

  static bool FitsInt(size_t bytes) {
    return bytes <= static_cast<size_t>(std::numeric_limits<int>::max());
  }

  const Net* net_;
};

template <typename Net>
std::unique_ptr<NetTable> Wrap(const void* table) {
  return std::make_unique<TableOf<Net>>(static_cast<const Net*>(table));
}

}  // namespace

std::unique_ptr<NetTable> MakeNetTable(int version, const void* table) {
  switch (version) {
    case 8:
      return Wrap<nccl::NetV8>(table);
    case 9:
      return Wrap<nccl::NetV9>(table);
    case 10:
      return Wrap<nccl::NetV10>(table);
    case 11:
      return Wrap<nccl::NetV11>(table);
    case 12:
      return Wrap<nccl::NetV12>(table);
    default:
      return nullptr;
  }
}

}  // namespace rondo::plugin
