// The types of NCCL's net plugin interface, versions 8 to 12.
//
// Written from the facts of that interface, not copied from NCCL: names are
// ours, layouts are NCCL's, and every size and offset is asserted. What a field
// means to NCCL stands beside it.
//
// Thread-safety: plain data. Ownership: strings in properties belong to the
// plugin and must stay valid while it is loaded.
//
// Example:
//   PropertiesV12 properties;
//   if (table.get_properties(0, &properties) != kSuccess) ...
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo::nccl {

// ncclResult_t.
enum Result : int {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7,
};

// "success", "system error" and so on; "result 17" is "unknown result".
const char* ResultName(int result);

// A handle is carried whole from listen() to connect(), which may keep its own
// state in it between two calls.
inline constexpr size_t kHandleBytes = 128;
// Requests in flight on one communicator, times maxRecvs when sending.
inline constexpr int kMaxRequests = 32;
// The largest accepted max_p2p_bytes and max_collective_bytes.
inline constexpr uint64_t kMaxNetBytes = uint64_t{1} << 40;
// Versions before 9 count bytes in an int and get no larger calls than this.
inline constexpr uint64_t kMaxBytesBeforeV9 = uint64_t{1} << 30;
// Devices beyond this many overflow tables of NCCL.
inline constexpr int kMaxDevices = 128;

// Kinds of memory: one of these when memory is registered, a mask of them in
// the properties.
inline constexpr int kPointerHost = 1;
inline constexpr int kPointerCuda = 2;
inline constexpr int kPointerDmaBuf = 4;

// Stands in *request when irecv may complete without waiting for the data.
inline constexpr uintptr_t kOptionalReceiveCompletion = 1;
inline constexpr int kTrafficClassUndefined = -1;
inline constexpr int16_t kNetIdUndefined = -1;

enum LogLevel : int {
  kLogNone = 0,
  kLogVersion = 1,
  kLogWarn = 2,
  kLogInfo = 3,
  kLogAbort = 4,
  kLogTrace = 5,
};
inline constexpr unsigned long kLogInit = 0x1;  // NOLINT: NCCL's type
inline constexpr unsigned long kLogNet = 0x10;  // NOLINT
inline constexpr unsigned long kLogAll = ~0UL;  // NOLINT

using Logger = void (*)(int level, unsigned long flags,  // NOLINT
                        const char* file, int line, const char* format, ...);
using ProfilerCallback = int (*)(void** event, int type, void* parent,
                                 int64_t plugin_id, void* data);

// What kind of network device this is for GPU kernels: none.
inline constexpr int kNetDeviceHost = 0;
inline constexpr int kNetDeviceVersionNone = 0;

struct NetDeviceHandle {
  int net_device_type;
  int net_device_version;
  void* handle;
  size_t size;
  int needs_proxy_progress;
};
static_assert(sizeof(NetDeviceHandle) == 32);

struct CommConfig {
  int traffic_class;
};
static_assert(sizeof(CommConfig) == 4);

struct CommAttributes {
  int32_t max_concurrent_peers;
  int32_t min_concurrent_peers;
  int32_t max_flows_per_peer;
  int32_t min_flows_per_peer;
};

struct NetAttributes {
  CommAttributes send;
  CommAttributes receive;
  uint32_t operations;  // bit masks
  uint32_t algorithms;
  uint32_t protocols;
};
static_assert(sizeof(NetAttributes) == 44);

// The physical devices behind a virtual one; {1, {own index}} for others. NCCL
// loops over count without checking it.
template <int kMost>
struct VirtualDevice {
  int count;
  int devices[kMost];
};
using VirtualDeviceV9 = VirtualDevice<4>;
using VirtualDeviceV12 = VirtualDevice<8>;
static_assert(sizeof(VirtualDeviceV9) == 20);
static_assert(sizeof(VirtualDeviceV12) == 36);

struct PropertiesV8 {
  const char* name;      // key of the topology; in logs
  const char* pci_path;  // folder below /sys, or null
  uint64_t guid;         // equal: the same physical port
  int pointer_support;
  int registration_is_global;
  int speed_mbps;
  int port;
  float latency_us;  // 0: NCCL's default
  int max_comms;
  int max_receives;  // in one irecv; above 1, communicators are shared
  int net_device_type;
  int net_device_version;
};
static_assert(sizeof(PropertiesV8) == 64);
static_assert(offsetof(PropertiesV8, pointer_support) == 24);
static_assert(offsetof(PropertiesV8, net_device_version) == 56);

struct PropertiesV9 {
  const char* name;
  const char* pci_path;
  uint64_t guid;
  int pointer_support;
  int registration_is_global;
  int force_flush;  // 1: flush after every receive into GPU memory
  int speed_mbps;
  int port;
  float latency_us;
  int max_comms;
  int max_receives;
  int net_device_type;
  int net_device_version;
  VirtualDeviceV9 virtual_device;
  size_t max_p2p_bytes;
  size_t max_collective_bytes;
};
static_assert(sizeof(PropertiesV9) == 104);
static_assert(offsetof(PropertiesV9, virtual_device) == 64);
static_assert(offsetof(PropertiesV9, max_p2p_bytes) == 88);

using PropertiesV10 = PropertiesV9;

struct PropertiesV11 {
  const char* name;
  const char* pci_path;
  uint64_t guid;
  int pointer_support;
  int registration_is_global;
  int force_flush;
  int speed_mbps;
  int port;
  float latency_us;
  int max_comms;
  int max_receives;
  int net_device_type;
  int net_device_version;
  VirtualDeviceV9 virtual_device;
  size_t max_p2p_bytes;
  size_t max_collective_bytes;
  int max_multi_request_size;
};
static_assert(sizeof(PropertiesV11) == 112);
static_assert(offsetof(PropertiesV11, max_multi_request_size) == 104);

struct PropertiesV12 {
  const char* name;
  const char* pci_path;
  uint64_t guid;
  int pointer_support;
  int registration_is_global;
  int force_flush;
  int speed_mbps;
  int port;
  float latency_us;
  int max_comms;
  int max_receives;
  int net_device_type;
  int net_device_version;
  VirtualDeviceV12 virtual_device;
  size_t max_p2p_bytes;
  size_t max_collective_bytes;
  int max_multi_request_size;
  int16_t rail_id;
  int16_t plane_id;
};
static_assert(sizeof(PropertiesV12) == 128);
static_assert(offsetof(PropertiesV12, max_p2p_bytes) == 104);
static_assert(offsetof(PropertiesV12, max_multi_request_size) == 120);
static_assert(offsetof(PropertiesV12, rail_id) == 124);
static_assert(offsetof(PropertiesV12, plane_id) == 126);

}  // namespace rondo::nccl
