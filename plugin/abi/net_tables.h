// The function tables of NCCL's net plugin interface, versions 8 to 12.
//
// A plugin exports one object `ncclNetPlugin_vN` per version; NCCL takes the
// newest that both know. Every function returns a Result as int.
//
// What callers rely on: connect and accept never block and leave *comm null
// until it is ready; isend and irecv leave *request null when there is no room;
// test says done once, after which the request is gone; close never waits for
// the peer.
//
// Thread-safety: functions may be called by several threads at once, also on
// one communicator; the tables themselves are constant. Ownership: the
// plugin's. Failure: any result but kSuccess ends the communicator.
//
// Example:
//   const auto* net = static_cast<const NetV12*>(
//       dlsym(library, "ncclNetPlugin_v12"));
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugin/abi/net_types.h"

namespace rondo::nccl {

struct NetV8 {
  using Properties = PropertiesV8;
  static constexpr int kVersion = 8;

  const char* name;
  int (*init)(Logger logger);
  int (*devices)(int* count);
  int (*get_properties)(int device, PropertiesV8* properties);
  int (*listen)(int device, void* handle, void** listen_comm);
  int (*connect)(int device, void* handle, void** send_comm,
                 NetDeviceHandle** device_handle);
  int (*accept)(void* listen_comm, void** receive_comm,
                NetDeviceHandle** device_handle);
  int (*register_memory)(void* comm, void* data, size_t bytes, int type,
                         void** memory_handle);
  int (*register_dma_buf)(void* comm, void* data, size_t bytes, int type,
                          uint64_t offset, int fd, void** memory_handle);
  int (*deregister_memory)(void* comm, void* memory_handle);
  int (*isend)(void* send_comm, void* data, int bytes, int tag,
               void* memory_handle, void** request);
  int (*irecv)(void* receive_comm, int count, void** data, int* bytes,
               int* tags, void** memory_handles, void** request);
  int (*iflush)(void* receive_comm, int count, void** data, int* bytes,
                void** memory_handles, void** request);
  int (*test)(void* request, int* done, int* bytes);
  int (*close_send)(void* send_comm);
  int (*close_receive)(void* receive_comm);
  int (*close_listen)(void* listen_comm);
  int (*get_device_memory)(void* comm, void* memory_handle, void** pointer);
  int (*receive_consumed)(void* receive_comm, int count, void* request);
};
static_assert(sizeof(NetV8) == 152);
static_assert(offsetof(NetV8, isend) == 10 * sizeof(void*));
static_assert(offsetof(NetV8, receive_consumed) == 18 * sizeof(void*));

// Sizes became size_t; virtual devices.
struct NetV9 {
  using Properties = PropertiesV9;
  static constexpr int kVersion = 9;

  const char* name;
  int (*init)(Logger logger);
  int (*devices)(int* count);
  int (*get_properties)(int device, PropertiesV9* properties);
  int (*listen)(int device, void* handle, void** listen_comm);
  int (*connect)(int device, void* handle, void** send_comm,
                 NetDeviceHandle** device_handle);
  int (*accept)(void* listen_comm, void** receive_comm,
                NetDeviceHandle** device_handle);
  int (*register_memory)(void* comm, void* data, size_t bytes, int type,
                         void** memory_handle);
  int (*register_dma_buf)(void* comm, void* data, size_t bytes, int type,
                          uint64_t offset, int fd, void** memory_handle);
  int (*deregister_memory)(void* comm, void* memory_handle);
  int (*isend)(void* send_comm, void* data, size_t bytes, int tag,
               void* memory_handle, void** request);
  int (*irecv)(void* receive_comm, int count, void** data, size_t* bytes,
               int* tags, void** memory_handles, void** request);
  int (*iflush)(void* receive_comm, int count, void** data, int* bytes,
                void** memory_handles, void** request);
  int (*test)(void* request, int* done, int* bytes);
  int (*close_send)(void* send_comm);
  int (*close_receive)(void* receive_comm);
  int (*close_listen)(void* listen_comm);
  int (*get_device_memory)(void* comm, void* memory_handle, void** pointer);
  int (*receive_consumed)(void* receive_comm, int count, void* request);
  int (*make_virtual_device)(int* device, VirtualDeviceV9* members);
};
static_assert(sizeof(NetV9) == 160);

// Profiler handles; a configuration for connect.
struct NetV10 {
  using Properties = PropertiesV10;
  static constexpr int kVersion = 10;

  const char* name;
  int (*init)(Logger logger, ProfilerCallback profiler);
  int (*devices)(int* count);
  int (*get_properties)(int device, PropertiesV10* properties);
  int (*listen)(int device, void* handle, void** listen_comm);
  int (*connect)(int device, CommConfig* config, void* handle, void** send_comm,
                 NetDeviceHandle** device_handle);
  int (*accept)(void* listen_comm, void** receive_comm,
                NetDeviceHandle** device_handle);
  int (*register_memory)(void* comm, void* data, size_t bytes, int type,
                         void** memory_handle);
  int (*register_dma_buf)(void* comm, void* data, size_t bytes, int type,
                          uint64_t offset, int fd, void** memory_handle);
  int (*deregister_memory)(void* comm, void* memory_handle);
  int (*isend)(void* send_comm, void* data, size_t bytes, int tag,
               void* memory_handle, void* profiler_handle, void** request);
  int (*irecv)(void* receive_comm, int count, void** data, size_t* bytes,
               int* tags, void** memory_handles, void** profiler_handles,
               void** request);
  int (*iflush)(void* receive_comm, int count, void** data, int* bytes,
                void** memory_handles, void** request);
  int (*test)(void* request, int* done, int* bytes);
  int (*close_send)(void* send_comm);
  int (*close_receive)(void* receive_comm);
  int (*close_listen)(void* listen_comm);
  int (*get_device_memory)(void* comm, void* memory_handle, void** pointer);
  int (*receive_consumed)(void* receive_comm, int count, void* request);
  int (*make_virtual_device)(int* device, VirtualDeviceV9* members);
};
static_assert(sizeof(NetV10) == 160);

// A context per communicator of NCCL, and its end. Versions 11 and 12 differ
// only in their properties and in how many members a virtual device can have.
template <int kTableVersion, typename PropertiesType, typename VirtualType>
struct NetWithContext {
  using Properties = PropertiesType;
  static constexpr int kVersion = kTableVersion;

  const char* name;
  int (*init)(void** context, uint64_t comm_id, CommConfig* config,
              Logger logger, ProfilerCallback profiler);
  int (*devices)(int* count);
  int (*get_properties)(int device, PropertiesType* properties);
  int (*listen)(void* context, int device, void* handle, void** listen_comm);
  int (*connect)(void* context, int device, void* handle, void** send_comm,
                 NetDeviceHandle** device_handle);
  int (*accept)(void* listen_comm, void** receive_comm,
                NetDeviceHandle** device_handle);
  int (*register_memory)(void* comm, void* data, size_t bytes, int type,
                         void** memory_handle);
  int (*register_dma_buf)(void* comm, void* data, size_t bytes, int type,
                          uint64_t offset, int fd, void** memory_handle);
  int (*deregister_memory)(void* comm, void* memory_handle);
  int (*isend)(void* send_comm, void* data, size_t bytes, int tag,
               void* memory_handle, void* profiler_handle, void** request);
  int (*irecv)(void* receive_comm, int count, void** data, size_t* bytes,
               int* tags, void** memory_handles, void** profiler_handles,
               void** request);
  int (*iflush)(void* receive_comm, int count, void** data, int* bytes,
                void** memory_handles, void** request);
  int (*test)(void* request, int* done, int* bytes);
  int (*close_send)(void* send_comm);
  int (*close_receive)(void* receive_comm);
  int (*close_listen)(void* listen_comm);
  int (*get_device_memory)(void* comm, void* memory_handle, void** pointer);
  int (*receive_consumed)(void* receive_comm, int count, void* request);
  int (*make_virtual_device)(int* device, VirtualType* members);
  int (*finalize)(void* context);
  int (*set_attributes)(void* context, NetAttributes* attributes);
};
using NetV11 = NetWithContext<11, PropertiesV11, VirtualDeviceV9>;
using NetV12 = NetWithContext<12, PropertiesV12, VirtualDeviceV12>;
static_assert(sizeof(NetV11) == 176);
static_assert(sizeof(NetV12) == 176);
static_assert(offsetof(NetV12, finalize) == 20 * sizeof(void*));
static_assert(offsetof(NetV12, set_attributes) == 21 * sizeof(void*));

}  // namespace rondo::nccl
