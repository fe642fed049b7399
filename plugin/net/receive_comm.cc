#include "plugin/net/receive_comm.h"

#include <cstring>
#include <utility>

#include "fmt/format.h"
#include "plugin/abi/net_types.h"

namespace rondo::plugin {

// As many flushes as receives may be in flight.
ReceiveComm::ReceiveComm(std::unique_ptr<NetPath> path,
                         std::shared_ptr<UcxContext> context)
    : NetComm(std::move(path), std::move(context), 2 * nccl::kMaxRequests) {
  path_->Handle(kRefusalMessage, &ReceiveComm::OnRefusal, this);
}

ReceiveComm::~ReceiveComm() {
  if (!flush_.Close(path_.get())) path_->Abandon();
  EndRequests();
  if (acknowledging_ != nullptr) ucp_request_free(acknowledging_);
}

Status ReceiveComm::Receive(int count, void** data, const size_t* bytes,
                            const int* tags, void** memories,
                            NetRequest** request) {
  *request = nullptr;
  if (count < 1 || count > kMaxReceives) {
    return InvalidArgument(
        fmt::format("{} buffers in one receive; accepted are 1 to {}", count,
                    kMaxReceives));
  }
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return Status::Ok();
  if (!path_->failure().ok()) return path_->failure();
  if (pool_.used() >= nccl::kMaxRequests) {
    path_->Progress();
    return Status::Ok();
  }
  NetRequest* taken = pool_.Take();
  taken->is_receive = true;
  taken->count = count;
  Grant& grant = taken->grant;
  grant = {next_sequence_, received_, static_cast<uint32_t>(count), 0, {}};
  acknowledged_ = received_;
  next_sequence_ += static_cast<uint64_t>(count);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    taken->posted_bytes[at] = bytes[i];
    taken->tags[at] = tags[i];
    grant.entries[i] = {bytes[i], tags[i], 0};
    PostBuffer(
        taken, i, data[i],
        memories == nullptr ? nullptr : static_cast<NetMemory*>(memories[i]));
  }
  NetRequest::Part* part = &taken->parts[kGrantPart];
  ucp_request_param_t param = PartParam(part, nullptr);
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  const size_t grant_bytes = offsetof(Grant, entries) +
                             static_cast<size_t>(count) * sizeof(GrantEntry);
  Track(part, ucp_am_send_nbx(path_->endpoint(), kGrantMessage, nullptr, 0,
                              &grant, grant_bytes, &param));
  *request = taken;
  return Status::Ok();
}

void ReceiveComm::PostBuffer(NetRequest* request, int index, void* data,
                             const NetMemory* memory) {
  NetRequest::Part* part = &request->parts[static_cast<size_t>(index)];
  ucp_request_param_t param = PartParam(part, memory);
  // Of a receive that completes at once UCX 1.13 does not tell the length.
  param.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  param.cb.recv = &ReceiveComm::OnReceived;
  const uint64_t sequence =
      request->grant.first_sequence + static_cast<uint64_t>(index);
  Track(part,
        ucp_tag_recv_nbx(path_->worker(), data,
                         request->posted_bytes[static_cast<size_t>(index)],
                         sequence, ~uint64_t{0}, &param));
}

void ReceiveComm::OnReceived(void* ucx_request, ucs_status_t status,
                             const ucp_tag_recv_info_t* info, void* data) {
  auto* part = static_cast<NetRequest::Part*>(data);
  if (status == UCS_OK) {
    part->owner->bytes[static_cast<size_t>(part->index)] = info->length;
    ++static_cast<ReceiveComm*>(part->owner->comm)->received_;
  }
  OnPartDone(ucx_request, status, data);
}

ucs_status_t ReceiveComm::OnRefusal(void* self, const void*, size_t, void* data,
                                    size_t bytes, const ucp_am_recv_param_t*) {
  auto* comm = static_cast<ReceiveComm*>(self);
  uint64_t words[2];  // sequence and bytes
  if (bytes != sizeof(words)) return UCS_OK;
  std::memcpy(words, data, sizeof(words));
  for (NetRequest& request : comm->pool_.all()) {
    const uint64_t index = words[0] - request.grant.first_sequence;
    if (!request.used || !request.is_receive || index >= request.grant.count) {
      continue;
    }
    request.failure = InvalidUsage(
        fmt::format("peer {} sent {} bytes with tag {} into a receive of {}",
                    comm->path_->peer(), words[1], request.tags[index],
                    request.posted_bytes[index]));
  }
  return UCS_OK;
}

Status ReceiveComm::Flush(int count, void** data, const int* bytes,
                          void** memories, NetRequest** request) {
  *request = nullptr;
  if (count < 0 || count > kMaxReceives) {
    return InvalidArgument(fmt::format(
        "{} buffers in one flush; accepted are 0 to {}", count, kMaxReceives));
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (!path_->failure().ok()) return path_->failure();
  NetRequest* taken = nullptr;
  for (int i = 0; i < count; ++i) {
    auto* memory =
        memories == nullptr ? nullptr : static_cast<NetMemory*>(memories[i]);
    if (bytes[i] <= 0 || memory == nullptr) continue;
    if (taken == nullptr) taken = pool_.Take();
    if (taken == nullptr) {
      return Status(Code::kResourceExhausted, "too many flushes in flight");
    }
    NetRequest::Part* part = &taken->parts[static_cast<size_t>(i)];
    ucp_request_param_t param = PartParam(part, nullptr);
    auto posted = flush_.Read(path_.get(), data[i], memory, &param);
    if (!posted.ok()) return path_->Fail(posted.status());
    Track(part, *posted);
  }
  *request = taken;
  return Status::Ok();
}

// As long as requests are in flight there will be another call; telling the
// sender can wait until this one has been reported and nothing more comes.
bool ReceiveComm::Settle(bool done, bool more) {
  const bool last = pool_.used() == 1;
  if (last && done) return Acknowledge();
  if (!done && !more) Acknowledge();
  return true;
}

bool ReceiveComm::Acknowledge() {
  if (acknowledging_ != nullptr) {
    if (ucp_request_check_status(acknowledging_) == UCS_INPROGRESS) {
      return false;
    }
    ucp_request_free(std::exchange(acknowledging_, nullptr));
  }
  if (acknowledged_ == received_) return true;
  acknowledged_ = acknowledgment_ = received_;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  void* sent =
      ucp_am_send_nbx(path_->endpoint(), kReceivedMessage, nullptr, 0,
                      &acknowledgment_, sizeof(acknowledgment_), &param);
  // A path that broke is found by who looks at the peer.
  if (UCS_PTR_IS_PTR(sent)) acknowledging_ = sent;
  return acknowledging_ == nullptr;
}

void ReceiveComm::Forget(NetMemory* memory) {
  std::lock_guard<std::mutex> lock(mutex_);
  flush_.Forget(memory);
}

Status ReceiveComm::Explain(const NetRequest& request, int part,
                            ucs_status_t status) const {
  const std::string who = "peer " + path_->peer();
  if (part == kGrantPart || !request.is_receive) {
    return UcxError("talking to " + who, status == UCS_ERR_CANCELED
                                             ? UCS_ERR_CONNECTION_RESET
                                             : status);
  }
  const auto at = static_cast<size_t>(part);
  const std::string what =
      fmt::format("receiving at most {} bytes with tag {} from {}",
                  request.posted_bytes[at], request.tags[at], who);
  if (status == UCS_ERR_MESSAGE_TRUNCATED) {
    return InvalidUsage(what + ": a larger message came");
  }
  return UcxError(
      what, status == UCS_ERR_CANCELED ? UCS_ERR_CONNECTION_RESET : status);
}

}  // namespace rondo::plugin
