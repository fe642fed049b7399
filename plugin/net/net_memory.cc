#include "plugin/net/net_memory.h"

#include <fcntl.h>

#include <cerrno>

#include "fmt/format.h"
#include "plugin/abi/net_types.h"

namespace rondo::plugin {

Result<std::unique_ptr<NetMemory>> NetMemory::Register(
    std::shared_ptr<UcxContext> context, void* data, size_t bytes, int type,
    int dma_buf) {
  if (type != nccl::kPointerHost && type != nccl::kPointerCuda) {
    return InvalidArgument(fmt::format(
        "memory of type {} cannot be registered; accepted are 1 (host) and 2 "
        "(CUDA)",
        type));
  }
  if (data == nullptr || bytes == 0) {
    return InvalidArgument(
        fmt::format("{} bytes at {} cannot be registered", bytes, data));
  }
  if (type == nccl::kPointerCuda && !context->Supports(MemoryKind::kCuda)) {
    return Status(Code::kNotSupported,
                  "this UCX was built without CUDA, or finds none");
  }
  std::unique_ptr<NetMemory> memory(new NetMemory(context));
  if (dma_buf >= 0) {
    memory->dma_buf_ = FileDescriptor(fcntl(dma_buf, F_DUPFD_CLOEXEC, 0));
    if (!memory->dma_buf_.valid()) {
      return SystemError(fmt::format("keeping dmabuf {}", dma_buf), errno);
    }
  }
  memory->type_ =
      type == nccl::kPointerCuda ? UCS_MEMORY_TYPE_CUDA : UCS_MEMORY_TYPE_HOST;
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
  params.address = data;
  params.length = bytes;
  params.memory_type = memory->type_;
  const ucs_status_t status =
      ucp_mem_map(context->handle(), &params, &memory->handle_);
  if (status == UCS_OK) return memory;
  memory->handle_ = nullptr;
  return UcxError(
      fmt::format("registering {} bytes of {} memory at {}", bytes,
                  type == nccl::kPointerCuda ? "CUDA" : "host", data),
      status);
}

NetMemory::~NetMemory() {
  if (handle_ != nullptr) ucp_mem_unmap(context_->handle(), handle_);
}

Result<std::string> NetMemory::PackKey() const {
  void* key = nullptr;
  size_t bytes = 0;
  const ucs_status_t status =
      ucp_rkey_pack(context_->handle(), handle_, &key, &bytes);
  if (status != UCS_OK) return UcxError("packing a memory key", status);
  std::string copy(static_cast<const char*>(key), bytes);
  ucp_rkey_buffer_release(key);
  return copy;
}

}  // namespace rondo::plugin
