#include "tests/plugin/socket/bad_library.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "tests/plugin/socket/bad_receive.h"
#include "tests/plugin/socket/bad_send.h"
#include "tests/plugin/socket/faults.h"

namespace rondo::bad_plugin {
namespace {

struct Context {
  uint64_t uses = 0;
};

std::atomic<int> contexts{0};
std::atomic<bool> failed_once{false};

int64_t ThreadCpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

void* WaitForever(void*) {
  poll(nullptr, 0, -1);
  return nullptr;
}

void LeaveThread() {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, &WaitForever, nullptr) == 0) {
    pthread_detach(thread);
  }
}

int FailInit(const char* why) {
  failed_once = true;
  if (!Has(Fault::kSilentInitFailure)) Warn(why);
  return nccl::kSystemError;
}

void WasteTime() {
  if (Has(Fault::kSleepingTest)) poll(nullptr, 0, 1);
  if (!Has(Fault::kBusyTest)) return;
  const int64_t start_ns = ThreadCpuNs();
  while (ThreadCpuNs() - start_ns < 2'000'000) {
  }
}

}  // namespace

int Init(void** context, nccl::Logger logger) {
  SetLogger(logger);
  if (Has(Fault::kUnknown)) {
    return FailInit("RONDO_BAD_PLUGIN_FAULT names no fault; see faults.h");
  }
  if (Has(Fault::kInitStaysFailed) && failed_once) {
    return FailInit("an earlier init failed");
  }
  const char* devices = std::getenv(kDevicesVariable);
  if (devices != nullptr && std::strcmp(devices, "lo") != 0) {
    return FailInit("RONDO_BAD_PLUGIN_DEVICES names a device that is not lo");
  }
  if (Has(Fault::kOneContext) && contexts > 0) {
    return FailInit("there is a context already");
  }
  if (Has(Fault::kLeavesThread)) LeaveThread();
  ++contexts;
  if (context != nullptr) *context = new Context();
  return nccl::kSuccess;
}

int Finalize(void* context) {
  auto* own = static_cast<Context*>(context);
  if (Has(Fault::kFinalizeNeedsContext)) {
    // Read whatever stands there, as a plugin without a null check would.
    static_cast<volatile Context*>(own)->uses = 0;
  }
  if (own == nullptr) return nccl::kSuccess;
  --contexts;
  delete own;
  return nccl::kSuccess;
}

int Devices(int* count) {
  static std::atomic<int> asked{0};
  *count = Has(Fault::kCountChanges) ? ++asked : 1;
  return nccl::kSuccess;
}

int CheckDevice(int device) {
  if (device == 0 || Has(Fault::kAnyDevice) || Has(Fault::kCountChanges)) {
    return nccl::kSuccess;
  }
  Warn("there is only device 0");
  return nccl::kInvalidArgument;
}

uint64_t Guid() {
  static std::atomic<uint64_t> asked{0};
  return Has(Fault::kGuidChanges) ? 1 + asked++ : 1;
}

int CloseComm(void* comm) {
  auto* own = static_cast<Comm*>(comm);
  if (Has(Fault::kCloseFailsInFlight) && !own->idle()) {
    Warn("close with requests in flight");
    return nccl::kInternalError;
  }
  if (Has(Fault::kCloseFailsWhenBroken) && own->broken() != nccl::kSuccess) {
    Warn("close of a broken connection");
    return nccl::kInternalError;
  }
  if (Has(Fault::kCloseDropsData)) {
    // The kernel forgets what it has not sent yet.
    const linger at_once{1, 0};
    setsockopt(own->fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }
  if (Has(Fault::kCloseWaits)) {
    // Until the other side closes, or gives up after three seconds.
    pollfd other{own->fd(), POLLRDHUP, 0};
    poll(&other, 1, 3000);
  }
  delete own;
  return nccl::kSuccess;
}

int RegisterMemory(void* comm, void* data, size_t bytes, int type,
                   void** memory_handle) {
  auto* own = static_cast<Comm*>(comm);
  *memory_handle = nullptr;
  if (type != nccl::kPointerHost && !Has(Fault::kAcceptsAnyType)) {
    Warn("only host memory (1) can be registered");
    return nccl::kInvalidArgument;
  }
  std::lock_guard<std::mutex> lock(own->mutex());
  return own->Register(data, bytes, memory_handle);
}

int RegisterDmaBuf(void* comm, void* data, size_t bytes, int /*type*/,
                   uint64_t /*offset*/, int /*fd*/, void** memory_handle) {
  if (Has(Fault::kClaimsDmaBuf)) {
    return RegisterMemory(comm, data, bytes, nccl::kPointerHost, memory_handle);
  }
  *memory_handle = nullptr;
  Warn("dmabufs are not supported");
  return nccl::kInvalidUsage;
}

int DeregisterMemory(void* comm, void* memory_handle) {
  auto* own = static_cast<Comm*>(comm);
  std::lock_guard<std::mutex> lock(own->mutex());
  return own->Deregister(memory_handle);
}

int Isend(void* send_comm, void* data, size_t bytes, int tag,
          void* memory_handle, void** request) {
  auto* own = static_cast<SendComm*>(static_cast<Comm*>(send_comm));
  std::lock_guard<std::mutex> lock(own->mutex());
  return own->Send(data, bytes, tag, memory_handle, request);
}

int Irecv(void* receive_comm, int count, void** data, const size_t* bytes,
          int* tags, void** memory_handles, void** request) {
  auto* own = static_cast<ReceiveComm*>(static_cast<Comm*>(receive_comm));
  std::lock_guard<std::mutex> lock(own->mutex());
  return own->Receive(count, data, bytes, tags, memory_handles, request);
}

int Iflush(void* /*receive_comm*/, int /*count*/, void** /*data*/,
           int* /*bytes*/, void** /*memory_handles*/, void** request) {
  // Host memory that a processor has written needs no flush.
  if (!Has(Fault::kFlushLeavesRequest)) *request = nullptr;
  return nccl::kSuccess;
}

int Test(void* request, int* done, int* sizes) {
  WasteTime();
  auto* own = static_cast<Request*>(request);
  Comm* comm = own->comm;
  std::lock_guard<std::mutex> lock(comm->mutex());
  return comm->Test(own, done, sizes);
}

}  // namespace rondo::bad_plugin
