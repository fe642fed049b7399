#include "transports/ucx/ucx_shared_memory.h"

#include <ucp/api/ucp.h>

#include <mutex>
#include <utility>

#include "transports/ucx/ucx_process.h"
#include "transports/ucx/ucx_worker.h"

namespace rondo {
namespace {

// System V segments would do as well, but they have a system-wide limit and
// stay behind when a process dies before UCX has marked them.
constexpr char kTransports[] = "posix,self";
// What /dev/shm keeps free for everybody else.
constexpr uint64_t kReserveBytes = uint64_t{1} << 20;

// Never destroyed: blocks may outlive every static object, and UCX's own
// clean-up at exit would take their memory away.
struct Shared {
  std::mutex mutex;  // UCX objects are for one thread at a time
  std::unique_ptr<UcxWorker> worker;
  // To this very worker. An endpoint is needed to unpack a key, but its other
  // end says only which kinds of memory there are, the same on all ranks.
  ucp_ep_h endpoint = nullptr;
};

class UcxBlock : public UcxSharedMemory::Block {
 public:
  UcxBlock(Shared* shared, ucp_mem_h handle, char* data, size_t bytes,
           std::string key)
      : shared_(shared),
        handle_(handle),
        data_(data),
        bytes_(bytes),
        key_(std::move(key)),
        fork_generation_(ForkGeneration()) {}

  ~UcxBlock() override {
    if (ForkGeneration() != fork_generation_) return;
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    ucp_mem_unmap(shared_->worker->context(), handle_);
  }

  char* data() const override { return data_; }
  size_t bytes() const override { return bytes_; }
  const std::string& key() const override { return key_; }

 private:
  Shared* shared_;
  ucp_mem_h handle_;
  char* data_;
  size_t bytes_;
  std::string key_;
  int fork_generation_;
};

class UcxMapping : public UcxSharedMemory::Mapping {
 public:
  UcxMapping(Shared* shared, ucp_rkey_h key, char* data)
      : shared_(shared),
        key_(key),
        data_(data),
        fork_generation_(ForkGeneration()) {}

  ~UcxMapping() override {
    if (ForkGeneration() != fork_generation_) return;
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    ucp_rkey_destroy(key_);
  }

  char* data() const override { return data_; }

 private:
  Shared* shared_;
  ucp_rkey_h key_;
  char* data_;
  int fork_generation_;
};

Result<std::string> PackKey(ucp_context_h context, ucp_mem_h handle) {
  void* packed = nullptr;
  size_t bytes = 0;
  const ucs_status_t status = ucp_rkey_pack(context, handle, &packed, &bytes);
  if (status != UCS_OK) return UcxError("packing a memory key", status);
  std::string key(static_cast<const char*>(packed), bytes);
  ucp_rkey_buffer_release(packed);
  return key;
}

class ProcessMemory : public UcxSharedMemory {
 public:
  Status Open() {
    UcxWorkerOptions options;
    options.transports = kTransports;
    options.memory_access = true;
    RONDO_ASSIGN_OR_RETURN(shared_.worker, UcxWorker::Open(options));
    RemoveUcxSignalHandlers();
    RONDO_ASSIGN_OR_RETURN(const std::string address,
                           shared_.worker->Address());
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    const ucs_status_t status =
        ucp_ep_create(shared_.worker->handle(), &params, &shared_.endpoint);
    if (status == UCS_OK) return Status::Ok();
    return UcxError("opening shared memory", status);
  }

  Result<std::unique_ptr<Block>> Allocate(size_t bytes) override {
    const std::string directory = SharedMemoryDirectory();
    const uint64_t room = AvailableBytes(directory);
    if (room < kReserveBytes || bytes > room - kReserveBytes) {
      return Status(Code::kResourceExhausted,
                    std::to_string(bytes) + " bytes of shared memory; " +
                        directory + " has " + std::to_string(room) + " left");
    }
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                        UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                        UCP_MEM_MAP_PARAM_FIELD_ADDRESS;
    params.length = bytes;
    params.flags = UCP_MEM_MAP_ALLOCATE;
    const std::lock_guard<std::mutex> lock(shared_.mutex);
    const ucp_context_h context = shared_.worker->context();
    ucp_mem_h handle = nullptr;
    ucs_status_t status = ucp_mem_map(context, &params, &handle);
    if (status != UCS_OK) {
      return UcxError(
          "allocating " + std::to_string(bytes) + " bytes of shared memory",
          status);
    }
    ucp_mem_attr_t attributes{};
    attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    status = ucp_mem_query(handle, &attributes);
    Result<std::string> key = status == UCS_OK
                                  ? PackKey(context, handle)
                                  : UcxError("querying memory", status);
    if (!key.ok()) {
      ucp_mem_unmap(context, handle);
      return key.status();
    }
    return std::unique_ptr<Block>(std::make_unique<UcxBlock>(
        &shared_, handle, static_cast<char*>(attributes.address), bytes,
        *std::move(key)));
  }

  Result<std::unique_ptr<Mapping>> Map(std::string_view key,
                                       uint64_t address) override {
    const std::lock_guard<std::mutex> lock(shared_.mutex);
    ucp_rkey_h unpacked = nullptr;
    ucs_status_t status =
        ucp_ep_rkey_unpack(shared_.endpoint, key.data(), &unpacked);
    if (status != UCS_OK) return UcxError("unpacking a memory key", status);
    void* pointer = nullptr;
    status = ucp_rkey_ptr(unpacked, address, &pointer);
    if (status != UCS_OK) {
      ucp_rkey_destroy(unpacked);
      return UcxError("mapping shared memory", status);
    }
    return std::unique_ptr<Mapping>(std::make_unique<UcxMapping>(
        &shared_, unpacked, static_cast<char*>(pointer)));
  }

 private:
  Shared shared_;
};

}  // namespace

Result<UcxSharedMemory*> UcxSharedMemory::Get() {
  static std::mutex mutex;
  static ProcessMemory* memory = nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  if (memory == nullptr) {
    auto opened = std::make_unique<ProcessMemory>();
    RONDO_RETURN_IF_ERROR(opened->Open());
    memory = opened.release();
  }
  return memory;
}

}  // namespace rondo
