// NetTable: one version of a plugin's table, driven through one interface.
//
// The differences between versions (who gets a context, what counts as a size,
// where a profiler handle goes) are settled here, each version through its own
// prototype, so that a caller is written once. What a version does not have is
// left out of the call: sizes that an int cannot hold are refused before
// version 9, profiler handles are dropped before version 10.
//
// Results are the plugin's own, untouched. Output arguments are handed on as
// they are, so that a caller can poison them first and see what the plugin
// wrote.
//
// Thread-safety: that of the plugin. Ownership: the table belongs to the loaded
// plugin and must not outlive it.
//
// Example:
//   void* context = nullptr;
//   if (net.Init(&context, 1, logger) != nccl::kSuccess) ...
//   net.Listen(context, 0, handle, &listen_comm);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "plugin/abi/net_tables.h"
#include "plugin/abi/net_types.h"

namespace rondo::plugin {

class NetTable {
 public:
  virtual ~NetTable() = default;

  virtual int version() const = 0;
  virtual const char* name() const = 0;
  // Whether an entry that a plugin may leave out is there.
  virtual bool has_finalize() const = 0;
  virtual bool has_set_attributes() const = 0;
  virtual bool has_receive_consumed() const = 0;
  virtual bool has_make_virtual_device() const = 0;

  // Before version 11 there is no context; *context becomes null.
  virtual int Init(void** context, uint64_t comm_id, nccl::Logger logger) = 0;
  virtual int Devices(int* count) = 0;
  // The raw structure of this version is filled with the byte 0xa5 before the
  // call; fields that the version lacks come back as in a default
  // PropertiesV12.
  virtual int GetProperties(int device, nccl::PropertiesV12* properties) = 0;
  virtual int Listen(void* context, int device, void* handle,
                     void** listen_comm) = 0;
  virtual int Connect(void* context, int device, void* handle, void** send_comm,
                      nccl::NetDeviceHandle** device_handle) = 0;
  virtual int Accept(void* listen_comm, void** receive_comm,
                     nccl::NetDeviceHandle** device_handle) = 0;
  virtual int RegisterMemory(void* comm, void* data, size_t bytes, int type,
                             void** memory_handle) = 0;
  virtual int RegisterDmaBuf(void* comm, void* data, size_t bytes, int type,
                             uint64_t offset, int fd, void** memory_handle) = 0;
  virtual int DeregisterMemory(void* comm, void* memory_handle) = 0;
  virtual int Isend(void* send_comm, void* data, size_t bytes, int tag,
                    void* memory_handle, void** request) = 0;
  virtual int Irecv(void* receive_comm, int count, void** data, size_t* bytes,
                    int* tags, void** memory_handles, void** request) = 0;
  virtual int Iflush(void* receive_comm, int count, void** data, int* bytes,
                     void** memory_handles, void** request) = 0;
  virtual int Test(void* request, int* done, int* bytes) = 0;
  virtual int CloseSend(void* send_comm) = 0;
  virtual int CloseReceive(void* receive_comm) = 0;
  virtual int CloseListen(void* listen_comm) = 0;
  // kSuccess without a call where the version or the plugin has no such entry.
  virtual int ReceiveConsumed(void* receive_comm, int count, void* request) = 0;
  virtual int Finalize(void* context) = 0;
  virtual int SetAttributes(void* context, nccl::NetAttributes* attributes) = 0;
};

// `table` is what the symbol ncclNetPlugin_v<version> points to; version is 8
// to 12, null for others.
std::unique_ptr<NetTable> MakeNetTable(int version, const void* table);

}  // namespace rondo::plugin
