// What the bad plugin does, the same for every version of NCCL's table: one
// device, "lo", and connections over non-blocking TCP.
//
// Every function is one entry of the table, without what differs between
// versions: contexts, configurations and profiler handles.
//
// Thread-safety: any thread. Ownership: communicators are made by listen,
// connect and accept, and freed by the close of their kind. Failure: NCCL's
// results, with one warning.
//
// Example:
//   int (*listen)(int, void*, void**) = &bad_plugin::Listen;
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugin/abi/net_types.h"

namespace rondo::bad_plugin {

inline constexpr char kName[] = "Bad";

int Init(void** context, nccl::Logger logger);
int Finalize(void* context);
int SetAttributes(void* context, nccl::NetAttributes* attributes);
int Devices(int* count);
// Sets nothing when `device` is not one of this plugin.
int CheckDevice(int device);
// What stands in the properties of every version.
uint64_t Guid();

int Listen(int device, void* handle, void** listen_comm);
int Connect(int device, void* handle, void** send_comm,
            nccl::NetDeviceHandle** device_handle);
int Accept(void* listen_comm, void** receive_comm,
           nccl::NetDeviceHandle** device_handle);
int CloseListen(void* listen_comm);
int CloseComm(void* comm);

int RegisterMemory(void* comm, void* data, size_t bytes, int type,
                   void** memory_handle);
int RegisterDmaBuf(void* comm, void* data, size_t bytes, int type,
                   uint64_t offset, int fd, void** memory_handle);
int DeregisterMemory(void* comm, void* memory_handle);
int Isend(void* send_comm, void* data, size_t bytes, int tag,
          void* memory_handle, void** request);
int Irecv(void* receive_comm, int count, void** data, const size_t* bytes,
          int* tags, void** memory_handles, void** request);
int Iflush(void* receive_comm, int count, void** data, int* bytes,
           void** memory_handles, void** request);
int Test(void* request, int* done, int* sizes);

}  // namespace rondo::bad_plugin
