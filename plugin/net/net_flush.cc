#include "plugin/net/net_flush.h"

#include <string>
#include <utility>

namespace rondo::plugin {
namespace {

constexpr int64_t kCloseMs = 50;

}  // namespace

Status NetFlush::Open(NetPath* path) {
  if (endpoint_ != nullptr) return Status::Ok();
  RONDO_ASSIGN_OR_RETURN(const std::string address, path->Address());
  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  const ucs_status_t status =
      ucp_ep_create(path->worker(), &params, &endpoint_);
  if (status == UCS_OK) return Status::Ok();
  endpoint_ = nullptr;
  return UcxError("opening a path to flush through", status);
}

Result<ucs_status_ptr_t> NetFlush::Read(NetPath* path, const void* data,
                                        const NetMemory* memory,
                                        const ucp_request_param_t* param) {
  RONDO_RETURN_IF_ERROR(Open(path));
  auto known = keys_.find(memory);
  if (known == keys_.end()) {
    RONDO_ASSIGN_OR_RETURN(const std::string packed, memory->PackKey());
    ucp_rkey_h key = nullptr;
    const ucs_status_t status =
        ucp_ep_rkey_unpack(endpoint_, packed.data(), &key);
    if (status != UCS_OK) return UcxError("unpacking a memory key", status);
    known = keys_.emplace(memory, key).first;
  }
  return ucp_get_nbx(endpoint_, &landing_, sizeof(landing_),
                     reinterpret_cast<uint64_t>(data), known->second, param);
}

void NetFlush::Forget(const NetMemory* memory) {
  const auto known = keys_.find(memory);
  if (known == keys_.end()) return;
  ucp_rkey_destroy(known->second);
  keys_.erase(known);
}

bool NetFlush::Close(NetPath* path) {
  for (const auto& [memory, key] : keys_) ucp_rkey_destroy(key);
  keys_.clear();
  if (endpoint_ == nullptr) return true;
  // A path to oneself needs nobody else to be finished.
  ucp_request_param_t param{};
  void* request = ucp_ep_flush_nbx(endpoint_, &param);
  const Deadline deadline = Deadline::AfterMs(kCloseMs);
  bool ended = true;
  for (int step = 0; step < 2 && ended; ++step) {
    while (UCS_PTR_IS_PTR(request) &&
           ucp_request_check_status(request) == UCS_INPROGRESS) {
      if (deadline.expired()) return false;
      path->Progress();
    }
    if (UCS_PTR_IS_PTR(request)) ucp_request_free(request);
    if (step == 1) break;
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    request = ucp_ep_close_nbx(std::exchange(endpoint_, nullptr), &param);
  }
  return ended;
}

}  // namespace rondo::plugin
