// A net plugin with faults: a good one underneath, named by
// RONDO_BAD_PLUGIN_BASE, and one fault on top, named by RONDO_BAD_PLUGIN_FAULT.
//
// Each fault is one that plugins really have had. Without a fault every call
// goes through unchanged.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "plugin/abi/net_tables.h"

namespace {

using rondo::nccl::CommConfig;
using rondo::nccl::Logger;
using rondo::nccl::NetAttributes;
using rondo::nccl::NetDeviceHandle;
using rondo::nccl::NetV12;
using rondo::nccl::ProfilerCallback;
using rondo::nccl::PropertiesV12;
using Clock = std::chrono::steady_clock;

constexpr int kError = rondo::nccl::kInternalError;
void* const kMarker =
    reinterpret_cast<void*>(rondo::nccl::kOptionalReceiveCompletion);

// The good plugin, closed with this one.
struct Base {
  Base() {
    const char* path = std::getenv("RONDO_BAD_PLUGIN_BASE");
    library = dlopen(path == nullptr ? "" : path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    net = static_cast<const NetV12*>(dlsym(library, "ncclNetPlugin_v12"));
  }
  ~Base() {
    if (library != nullptr) dlclose(library);
  }
  void* library = nullptr;
  const NetV12* net = nullptr;
};

Base& TheBase() {
  static Base base;
  return base;
}
const NetV12& Net() { return *TheBase().net; }

bool Has(const char* fault) {
  static const std::string chosen = [] {
    const char* text = std::getenv("RONDO_BAD_PLUGIN_FAULT");
    return std::string(text == nullptr ? "" : text);
  }();
  return chosen == fault;
}

// What a request is about, for faults that need to know.
struct Posted {
  void* data = nullptr;
  size_t bytes = 0;
  bool receive = false;
  std::vector<char> scratch = {};
};
std::map<void*, Posted> posted;
std::deque<int> granted_tags;
bool attributes_seen = false;
std::atomic<bool> busy{false};

void Silence(int, unsigned long, const char*, int, const char*,  // NOLINT
             ...) {}

int Init(void** context, uint64_t id, CommConfig* config, Logger logger,
         ProfilerCallback profiler) {
  if (TheBase().net == nullptr) return kError;
  if (Has("thread-left")) std::thread([] { pause(); }).detach();
  if (Has("file-left")) (void)!open("/dev/null", O_RDONLY);
  return Net().init(context, id, config,
                    Has("silent-failure") ? &Silence : logger, profiler);
}

int Devices(int* count) {
  static int extra = 0;
  const int result = Net().devices(count);
  if (Has("growing-devices")) *count += extra++;
  return result;
}

int GetProperties(int device, PropertiesV12* properties) {
  static uint64_t calls = 0;
  if (Has("any-device")) device = 0;
  const PropertiesV12 before = *properties;
  const int result = Net().get_properties(device, properties);
  if (Has("unset-field")) {
    properties->registration_is_global = before.registration_is_global;
  }
  if (Has("garbage-members")) properties->virtual_device.count = 5;
  if (Has("no-limit")) properties->max_p2p_bytes = 0;
  if (Has("changing-guid")) properties->guid += calls++;
  return result;
}

int Listen(void* context, int device, void* handle, void** comm) {
  const int result = Net().listen(context, device, handle, comm);
  if (Has("null-listener")) *comm = nullptr;
  return result;
}

int Connect(void* context, int device, void* handle, void** comm,
            NetDeviceHandle** device_handle) {
  static int polls = 0;
  if (Has("waiting-connect")) usleep(1'500'000);
  if (Has("needs-device-handle")) *device_handle = nullptr;
  void* result_comm = nullptr;
  const int result =
      Net().connect(context, device, handle, &result_comm, device_handle);
  if (Has("impatient-connect") && result_comm == nullptr && ++polls > 1000) {
    return rondo::nccl::kRemoteError;
  }
  if (Has("comm-not-written") && result_comm == nullptr) return result;
  *comm = result_comm;
  return result;
}

int RegisterMemory(void* comm, void* data, size_t bytes, int type,
                   void** handle) {
  if (Has("one-thread-only") && busy.exchange(true)) return kError;
  if (Has("no-small-memory") && bytes < 8) return kError;
  if (Has("any-memory-type")) type = rondo::nccl::kPointerHost;
  const int result = Net().register_memory(comm, data, bytes, type, handle);
  if (Has("null-memory-handle")) *handle = nullptr;
  busy = false;
  return result;
}

int RegisterDmaBuf(void* comm, void* data, size_t bytes, int type,
                   uint64_t offset, int fd, void** handle) {
  if (Has("pretends-dma-buf")) {
    *handle = &posted;
    return rondo::nccl::kSuccess;
  }
  return Net().register_dma_buf(comm, data, bytes, type, offset, fd, handle);
}

int DeregisterMemory(void* comm, void* handle) {
  static int calls = 0;
  if (Has("one-deregistration") && ++calls > 1) return kError;
  return Net().deregister_memory(comm, handle);
}

// A send that is kept until the next one comes.
struct Held {
  void* comm = nullptr;
  void* data;
  size_t bytes;
  int tag;
  void* handle;
};
Held held;
char held_request;

int HoldSend(void* comm, void* data, size_t bytes, int tag, void* handle,
             void** request) {
  if (held.comm != nullptr) {
    void* sent = nullptr;
    while (sent == nullptr) {
      const int result = Net().isend(held.comm, held.data, held.bytes, held.tag,
                                     held.handle, nullptr, &sent);
      if (result != rondo::nccl::kSuccess) return result;
    }
    int done = 0;
    for (int i = 0; i < 1000 && done == 0; ++i) {
      Net().test(sent, &done, nullptr);
    }
  }
  held = {comm, data, bytes, tag, handle};
  *request = &held_request;
  return rondo::nccl::kSuccess;
}

int Isend(void* comm, void* data, size_t bytes, int tag, void* handle,
          void* profiler, void** request) {
  if (Has("upset-by-attributes") && attributes_seen) return kError;
  if (Has("one-thread-only") && busy.exchange(true)) return kError;
  if (Has("holds-last-send")) {
    return HoldSend(comm, data, bytes, tag, handle, request);
  }
  if (Has("strict-tag-order") && !granted_tags.empty()) {
    if (granted_tags.front() != tag) return kError;
    granted_tags.pop_front();
  }
  void* result_request = nullptr;
  const int result =
      Net().isend(comm, data, bytes, tag, handle, profiler, &result_request);
  busy = false;
  if (Has("request-not-written") && result_request == nullptr) return result;
  static Clock::time_point last_sent = Clock::now();
  if (result_request != nullptr) last_sent = Clock::now();
  if (Has("impatient-send") &&
      Clock::now() - last_sent > std::chrono::milliseconds(500)) {
    return rondo::nccl::kRemoteError;
  }
  *request = result_request;
  if (*request != nullptr) posted[*request] = {data, bytes, false};
  return result;
}

int Irecv(void* comm, int count, void** data, size_t* bytes, int* tags,
          void** handles, void** profilers, void** request) {
  static int calls = 0;
  if (Has("crash")) std::abort();
  const bool marked = *request == kMarker;
  std::vector<void*> targets(data, data + count);
  std::vector<int> own_tags(tags, tags + count);
  if (Has("swaps-equal-tags") && count > 2) std::swap(targets[0], targets[2]);
  if (Has("swaps-tags") && count > 1) std::swap(own_tags[0], own_tags[1]);
  Posted about{data[0], bytes[0], true};
  size_t room = bytes[0];
  std::vector<void*> none(static_cast<size_t>(count), nullptr);
  if (Has("truncates") && count == 1 && room < 8192) {
    about.scratch.resize(8192);
    targets[0] = about.scratch.data();
    bytes[0] = about.scratch.size();
    handles = none.data();
  }
  const int result = Net().irecv(comm, count, targets.data(), bytes,
                                 own_tags.data(), handles, profilers, request);
  bytes[0] = room;
  if (*request == nullptr) {
    return Has("error-when-full") ? kError : result;
  }
  if (Has("strict-tag-order")) {
    granted_tags.insert(granted_tags.end(), tags, tags + count);
  }
  posted[*request] = std::move(about);
  if (Has("keeps-marker") && marked && ++calls > 10) *request = kMarker;
  return result;
}

void SpoilReceived(Posted* about, int* sizes) {
  char* data = static_cast<char*>(about->data);
  if (!about->scratch.empty() && sizes != nullptr) {
    const size_t most = std::min(about->bytes, static_cast<size_t>(sizes[0]));
    std::memcpy(data, about->scratch.data(), most);
    sizes[0] = static_cast<int>(most);
  }
  if (Has("posted-size") && sizes != nullptr) {
    sizes[0] = static_cast<int>(about->bytes);
  }
  if (Has("writes-past-end")) data[about->bytes] = 1;
  if (Has("flips-a-byte") && about->bytes > 0) data[0] ^= 1;
}

int Test(void* request, int* done, int* sizes) {
  if (request == &held_request) {
    *done = 1;
    if (sizes != nullptr) *sizes = static_cast<int>(held.bytes);
    return rondo::nccl::kSuccess;
  }
  if (Has("hangs")) pause();
  if (Has("sleeps-in-test")) usleep(500);
  if (Has("computes-in-test")) {
    const auto end = Clock::now() + std::chrono::milliseconds(2);
    while (Clock::now() < end) {
    }
  }
  if (Has("needs-sizes") && sizes == nullptr) return kError;
  if (Has("loses-empty-messages") && posted[request].bytes == 0) {
    *done = 0;
    return rondo::nccl::kSuccess;
  }
  const int result = Net().test(request, done, sizes);
  if (Has("deaf-to-death") && result != rondo::nccl::kSuccess) {
    *done = 0;
    return rondo::nccl::kSuccess;
  }
  const auto about = posted.find(request);
  if (about == posted.end()) return result;
  if (*done != 0) {
    if (about->second.receive) SpoilReceived(&about->second, sizes);
    posted.erase(about);
  }
  return result;
}

int Iflush(void* comm, int count, void** data, int* bytes, void** handles,
           void** request) {
  void* result_request = nullptr;
  const int result =
      Net().iflush(comm, count, data, bytes, handles, &result_request);
  if (!Has("flush-not-written")) *request = result_request;
  if (Has("flush-one-only") && count > 1) return kError;
  return result;
}

int Close(int (*close)(void*), void* comm) {
  if (Has("slow-close")) usleep(1'500'000);
  if (Has("close-fails-in-flight") && !posted.empty()) return kError;
  return close(comm);
}
int CloseSend(void* comm) { return Close(Net().close_send, comm); }
int CloseReceive(void* comm) { return Close(Net().close_receive, comm); }

int Accept(void* listener, void** comm, NetDeviceHandle** device_handle) {
  return Net().accept(listener, comm, device_handle);
}
int CloseListen(void* listener) {
  return listener == nullptr ? rondo::nccl::kSuccess
                             : Net().close_listen(listener);
}

int Finalize(void* context) {
  if (Has("finalize-crashes") && context == nullptr) std::abort();
  return Net().finalize(context);
}

int SetAttributes(void* context, NetAttributes* attributes) {
  attributes_seen = true;
  return Net().set_attributes(context, attributes);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const NetV12 ncclNetPlugin_v12 = {"Bad",          Init,
                                  Devices,        GetProperties,
                                  Listen,         Connect,
                                  Accept,         RegisterMemory,
                                  RegisterDmaBuf, DeregisterMemory,
                                  Isend,          Irecv,
                                  Iflush,         Test,
                                  CloseSend,      CloseReceive,
                                  CloseListen,    nullptr,
                                  nullptr,        nullptr,
                                  Finalize,       SetAttributes};
