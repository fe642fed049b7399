#include "plugin/net/send_comm.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fmt/format.h"
#include "plugin/abi/net_types.h"

namespace rondo::plugin {
namespace {

constexpr uint64_t kRefusalMs = 50;

}  // namespace

SendComm::GrantQueue::GrantQueue(NetPath* path) {
  path->Handle(kGrantMessage, &GrantQueue::OnGrant, this);
  path->Handle(kReceivedMessage, &GrantQueue::OnReceived, this);
}

ucs_status_t SendComm::GrantQueue::OnReceived(void* self, const void*, size_t,
                                              void* data, size_t bytes,
                                              const ucp_am_recv_param_t*) {
  auto* queue = static_cast<GrantQueue*>(self);
  uint64_t received = 0;
  if (bytes != sizeof(received)) return UCS_OK;
  std::memcpy(&received, data, bytes);
  queue->received = std::max(queue->received, received);
  return UCS_OK;
}

ucs_status_t SendComm::GrantQueue::OnGrant(void* self, const void*, size_t,
                                           void* data, size_t bytes,
                                           const ucp_am_recv_param_t*) {
  Grant grant;
  if (bytes < offsetof(Grant, entries)) return UCS_OK;
  std::memcpy(&grant, data, std::min(bytes, sizeof(grant)));
  auto* queue = static_cast<GrantQueue*>(self);
  queue->received = std::max(queue->received, grant.received);
  const uint32_t count = std::min<uint32_t>(grant.count, kMaxReceives);
  for (uint32_t i = 0; i < count; ++i) {
    queue->entries.push_back({grant.first_sequence + i, grant.entries[i].bytes,
                              grant.entries[i].tag});
  }
  return UCS_OK;
}

SendComm::SendComm(std::unique_ptr<NetPath> path,
                   std::shared_ptr<UcxContext> context,
                   std::unique_ptr<GrantQueue> grants)
    : NetComm(std::move(path), std::move(context),
              nccl::kMaxRequests * kMaxReceives),
      grants_(std::move(grants)) {}

SendComm::~SendComm() {
  EndRequests();
  path_.reset();  // while there still is a queue for its messages
}

Status SendComm::Send(void* data, size_t bytes, int tag,
                      const NetMemory* memory, NetRequest** request) {
  *request = nullptr;
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return Status::Ok();
  if (!path_->failure().ok()) return path_->failure();
  auto& entries = grants_->entries;
  const auto has_tag = [tag](const GrantQueue::Entry& entry) {
    return entry.tag == tag;
  };
  auto grant = std::find_if(entries.begin(), entries.end(), has_tag);
  if (grant == entries.end()) {
    path_->Progress();
    grant = std::find_if(entries.begin(), entries.end(), has_tag);
    if (grant == entries.end()) return path_->CheckPeer(NowNs());
  }
  if (bytes > grant->bytes) return Refuse(*grant, bytes);
  NetRequest* taken = pool_.Take();
  if (taken == nullptr) return Status::Ok();
  taken->count = 1;
  taken->bytes[0] = bytes;
  taken->tags[0] = tag;
  NetRequest::Part* part = &taken->parts[0];
  const uint64_t sequence = grant->sequence;
  entries.erase(grant);
  ucp_request_param_t param = PartParam(part, memory);
  Track(part,
        ucp_tag_send_nbx(path_->endpoint(), data, bytes, sequence, &param));
  ++sent_;
  *request = taken;
  return Status::Ok();
}

bool SendComm::Settle(bool /*done*/, bool /*more*/) {
  return pool_.used() > 1 || grants_->received == sent_;
}

// The receiver learns of it too: it would wait for ever.
Status SendComm::Refuse(const GrantQueue::Entry& grant, size_t bytes) {
  const Refusal refusal{grant.sequence, bytes};
  ucp_request_param_t param{};
  void* sent = ucp_am_send_nbx(path_->endpoint(), kRefusalMessage, nullptr, 0,
                               &refusal, sizeof(refusal), &param);
  const Deadline deadline = Deadline::AfterMs(kRefusalMs);
  while (UCS_PTR_IS_PTR(sent) &&
         ucp_request_check_status(sent) == UCS_INPROGRESS &&
         !deadline.expired()) {
    path_->Progress();
  }
  if (UCS_PTR_IS_PTR(sent)) ucp_request_free(sent);
  return path_->Fail(InvalidUsage(fmt::format(
      "sending {} bytes with tag {} to peer {}, whose receive holds {}", bytes,
      grant.tag, path_->peer(), grant.bytes)));
}

Status SendComm::Explain(const NetRequest& request, int /*part*/,
                         ucs_status_t status) const {
  return UcxError(
      fmt::format("sending {} bytes with tag {} to peer {}", request.bytes[0],
                  request.tags[0], path_->peer()),
      status == UCS_ERR_CANCELED ? UCS_ERR_CONNECTION_RESET : status);
}

}  // namespace rondo::plugin
