// NetMemory: what regMr returns: memory that UCX knows on one device.
//
// Thread-safety: registering and ending may happen while other threads send.
// Ownership: holds the device's context and, of a dmabuf, a descriptor of its
// own, since NCCL closes its one at once. Failure: names the kind, the address
// and the size.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto memory,
//                          NetMemory::Register(context, data, bytes, type,
//                          -1));
#pragma once

#include <ucp/api/ucp.h>

#include <memory>
#include <string>

#include "transports/base/status.h"
#include "transports/bootstrap/file_descriptor.h"
#include "transports/ucx/ucx_worker.h"

namespace rondo::plugin {

class NetMemory {
 public:
  // `type`: nccl::kPointerHost or kPointerCuda. `dma_buf`: -1 for none.
  static Result<std::unique_ptr<NetMemory>> Register(
      std::shared_ptr<UcxContext> context, void* data, size_t bytes, int type,
      int dma_buf);
  ~NetMemory();
  NetMemory(const NetMemory&) = delete;
  NetMemory& operator=(const NetMemory&) = delete;

  ucp_mem_h handle() const { return handle_; }
  ucs_memory_type_t type() const { return type_; }
  // For a read by the adapter itself.
  Result<std::string> PackKey() const;

 private:
  explicit NetMemory(std::shared_ptr<UcxContext> context)
      : context_(std::move(context)) {}

  std::shared_ptr<UcxContext> context_;
  FileDescriptor dma_buf_;
  ucp_mem_h handle_ = nullptr;
  ucs_memory_type_t type_ = UCS_MEMORY_TYPE_HOST;
};

}  // namespace rondo::plugin
