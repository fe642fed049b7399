#include "plugin/net/net_comm.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace rondo::plugin {
namespace {

constexpr int64_t kEndMs = 100;

int Narrow(size_t bytes) {
  constexpr size_t kMost = std::numeric_limits<int>::max();
  return static_cast<int>(std::min(bytes, kMost));
}

}  // namespace

NetComm::NetComm(std::unique_ptr<NetPath> path,
                 std::shared_ptr<UcxContext> context, int most_requests)
    : context_(std::move(context)),
      path_(std::move(path)),
      pool_(this, most_requests) {}

NetComm::~NetComm() = default;

Result<std::unique_ptr<NetMemory>> NetComm::Register(void* data, size_t bytes,
                                                     int type, int dma_buf) {
  return NetMemory::Register(context_, data, bytes, type, dma_buf);
}

ucp_request_param_t NetComm::PartParam(NetRequest::Part* part,
                                       const NetMemory* memory) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = &NetComm::OnPartDone;
  param.user_data = part;
  if (memory != nullptr) {
    param.op_attr_mask |=
        UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FIELD_MEMH;
    param.memory_type = memory->type();
    param.memh = memory->handle();
  }
  return param;
}

void NetComm::OnPartDone(void* ucx_request, ucs_status_t status, void* data) {
  auto* part = static_cast<NetRequest::Part*>(data);
  part->ucx_request = nullptr;
  ucp_request_free(ucx_request);
  part->owner->comm->EndPart(part, status);
}

void NetComm::Track(NetRequest::Part* part, ucs_status_ptr_t posted) {
  ++part->owner->pending;
  if (UCS_PTR_IS_PTR(posted)) {
    part->ucx_request = posted;
  } else {
    EndPart(part, UCS_PTR_STATUS(posted));
  }
}

void NetComm::EndPart(NetRequest::Part* part, ucs_status_t status) {
  NetRequest* request = part->owner;
  --request->pending;
  if (status == UCS_OK || ended_) return;
  if (request->failure.ok()) {
    request->failure = Explain(*request, part->index, status);
  }
}

Status NetComm::Test(NetRequest* request, int* done, int* sizes) {
  *done = 0;
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return Status::Ok();
  const bool more = path_->Progress();
  if (!request->failure.ok()) return path_->Fail(request->failure);
  const bool done_here = request->pending == 0;
  if (!Settle(done_here, more) || !done_here) {
    return path_->CheckPeer(request->posted_ns);
  }
  if (sizes != nullptr) {
    for (int i = 0; i < request->count; ++i) {
      sizes[i] = Narrow(request->bytes[static_cast<size_t>(i)]);
    }
  }
  *done = 1;
  pool_.Release(request);
  return Status::Ok();
}

void NetComm::EndRequests() {
  std::lock_guard<std::mutex> lock(mutex_);
  ended_ = true;
  for (NetRequest& request : pool_.all()) {
    if (!request.used || !request.is_receive) continue;
    for (NetRequest::Part& part : request.parts) {
      if (part.ucx_request == nullptr) continue;
      ucp_request_cancel(path_->worker(), part.ucx_request);
    }
  }
  bool closed = path_->CloseEndpoint();
  const Deadline deadline = Deadline::AfterMs(kEndMs);
  const auto busy = [](const NetRequest& request) {
    return request.used && request.pending > 0;
  };
  while (closed && std::any_of(pool_.all().begin(), pool_.all().end(), busy)) {
    if (deadline.expired()) closed = false;
    path_->Progress();
  }
  if (!closed) path_->Abandon();
}

}  // namespace rondo::plugin
