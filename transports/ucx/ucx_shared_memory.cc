#include "transports/ucx/ucx_shared_memory.h"

#include <ucp/api/ucp.h>
#include <uct/api/uct.h>

#include <mutex>
#include <utility>

#include "transports/ucx/ucx_process.h"
#include "transports/ucx/ucx_worker.h"

// UCX's lower interface, UCT, because the upper one needs an endpoint to unpack
// a key. UCX 1.13 then crashes where a key cannot be unpacked (the owner died,
// or is another user's), and UCX 1.22 answers a key of another process with an
// address of this one, if the endpoint leads back to the process itself.
namespace rondo {
namespace {

// System V segments would do as well, but they have a system-wide limit and
// stay behind when a process dies before UCX has marked them.
constexpr char kComponent[] = "posix";
// What /dev/shm keeps free for everybody else.
constexpr uint64_t kReserveBytes = uint64_t{1} << 20;

// Never destroyed: blocks may outlive every static object, and UCX's own
// clean-up at exit would take their memory away.
struct Shared {
  std::mutex mutex;  // UCX objects are for one thread at a time
  uct_component_h component = nullptr;
  uct_md_h domain = nullptr;
  size_t key_bytes = 0;
};

class UctBlock : public UcxSharedMemory::Block {
 public:
  UctBlock(Shared* shared, const uct_allocated_memory_t& memory, size_t bytes,
           std::string key)
      : shared_(shared),
        memory_(memory),
        bytes_(bytes),
        key_(std::move(key)),
        fork_generation_(ForkGeneration()) {}

  ~UctBlock() override {
    if (ForkGeneration() != fork_generation_) return;
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    uct_mem_free(&memory_);
  }

  char* data() const override { return static_cast<char*>(memory_.address); }
  size_t bytes() const override { return bytes_; }
  const std::string& key() const override { return key_; }

 private:
  Shared* shared_;
  uct_allocated_memory_t memory_;
  size_t bytes_;
  std::string key_;
  int fork_generation_;
};

class UctMapping : public UcxSharedMemory::Mapping {
 public:
  UctMapping(Shared* shared, const uct_rkey_bundle_t& key, char* data)
      : shared_(shared),
        key_(key),
        data_(data),
        fork_generation_(ForkGeneration()) {}

  ~UctMapping() override {
    if (ForkGeneration() != fork_generation_) return;
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    uct_rkey_release(shared_->component, &key_);
  }

  char* data() const override { return data_; }

 private:
  Shared* shared_;
  uct_rkey_bundle_t key_;
  char* data_;
  int fork_generation_;
};

// UCT's structures may grow from one version to the next.
Status CheckVersion() {
  unsigned major = 0, minor = 0, patch = 0;
  ucp_get_version(&major, &minor, &patch);
  if (major == UCP_API_MAJOR && minor == UCP_API_MINOR) return Status::Ok();
  const auto version = [](unsigned first, unsigned second) {
    return std::to_string(first) + "." + std::to_string(second);
  };
  return Status(Code::kNotSupported,
                "Rondo was built with UCX " +
                    version(UCP_API_MAJOR, UCP_API_MINOR) + ", and UCX " +
                    version(major, minor) +
                    " is loaded; sharing memory needs the same version");
}

Result<uct_component_h> FindComponent() {
  uct_component_h* list = nullptr;
  unsigned count = 0;
  const ucs_status_t status = uct_query_components(&list, &count);
  if (status != UCS_OK) return UcxError("listing UCX's components", status);
  uct_component_h found = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    uct_component_attr_t attributes{};
    attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME;
    if (uct_component_query(list[i], &attributes) == UCS_OK &&
        std::string_view(attributes.name) == kComponent) {
      found = list[i];
    }
  }
  uct_release_component_list(list);
  if (found != nullptr) return found;
  return Status(Code::kNotSupported, std::string("this UCX has no ") +
                                         kComponent + " shared memory");
}

class ProcessMemory : public UcxSharedMemory {
 public:
  Status Open() {
    RONDO_RETURN_IF_ERROR(CheckVersion());
    RONDO_ASSIGN_OR_RETURN(shared_.component, FindComponent());
    uct_md_config_t* config = nullptr;
    ucs_status_t status =
        uct_md_config_read(shared_.component, nullptr, nullptr, &config);
    if (status == UCS_OK) {
      status =
          uct_md_open(shared_.component, kComponent, config, &shared_.domain);
      uct_config_release(config);
    }
    RemoveUcxSignalHandlers();
    if (status != UCS_OK) return UcxError("opening shared memory", status);
    uct_md_attr_t attributes{};
    status = uct_md_query(shared_.domain, &attributes);
    shared_.key_bytes = attributes.rkey_packed_size;
    if (status == UCS_OK) return Status::Ok();
    uct_md_close(shared_.domain);
    return UcxError("querying shared memory", status);
  }

  Result<std::unique_ptr<Block>> Allocate(size_t bytes) override {
    const std::string directory = SharedMemoryDirectory();
    const uint64_t room = AvailableBytes(directory);
    if (room < kReserveBytes || bytes > room - kReserveBytes) {
      return Status(Code::kResourceExhausted,
                    std::to_string(bytes) + " bytes of shared memory; " +
                        directory + " has " + std::to_string(room) + " left");
    }
    const uct_alloc_method_t method = UCT_ALLOC_METHOD_MD;
    uct_mem_alloc_params_t params{};
    params.field_mask = UCT_MEM_ALLOC_PARAM_FIELD_FLAGS |
                        UCT_MEM_ALLOC_PARAM_FIELD_MDS |
                        UCT_MEM_ALLOC_PARAM_FIELD_NAME;
    params.flags = UCT_MD_MEM_ACCESS_ALL;
    params.mds.mds = &shared_.domain;
    params.mds.count = 1;
    params.name = "rondo";
    const std::lock_guard<std::mutex> lock(shared_.mutex);
    uct_allocated_memory_t memory{};
    ucs_status_t status = uct_mem_alloc(bytes, &method, 1, &params, &memory);
    if (status != UCS_OK) {
      return UcxError(
          "allocating " + std::to_string(bytes) + " bytes of shared memory",
          status);
    }
    std::string key(shared_.key_bytes, '\0');
    status = uct_md_mkey_pack(shared_.domain, memory.memh, key.data());
    if (status != UCS_OK) {
      uct_mem_free(&memory);
      return UcxError("packing a memory key", status);
    }
    return std::unique_ptr<Block>(
        std::make_unique<UctBlock>(&shared_, memory, bytes, std::move(key)));
  }

  Result<std::unique_ptr<Mapping>> Map(std::string_view key,
                                       uint64_t address) override {
    // UCX itself takes no length, and would read on behind a short key.
    if (key.size() != shared_.key_bytes) {
      return InvalidArgument("a memory key of " + std::to_string(key.size()) +
                             " bytes; this process has keys of " +
                             std::to_string(shared_.key_bytes));
    }
    const std::string packed(key);  // aligned, and ends in a zero
    const std::lock_guard<std::mutex> lock(shared_.mutex);
    uct_rkey_bundle_t unpacked{};
    ucs_status_t status =
        uct_rkey_unpack(shared_.component, packed.data(), &unpacked);
    if (status != UCS_OK) return UcxError("unpacking a memory key", status);
    void* pointer = nullptr;
    status = uct_rkey_ptr(shared_.component, &unpacked, address, &pointer);
    if (status != UCS_OK) {
      uct_rkey_release(shared_.component, &unpacked);
      return UcxError("mapping shared memory", status);
    }
    return std::unique_ptr<Mapping>(std::make_unique<UctMapping>(
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
