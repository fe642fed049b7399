#include "transports/ucx/ucx_lane.h"

#include <new>
#include <utility>

#include "transports/contract/arguments.h"

namespace rondo {

namespace {

// How long UCX may take to let go of the buffers of a failed peer.
constexpr int kLetGoMs = 50;

uint64_t UcxTag(int source, uint64_t tag) {
  return (static_cast<uint64_t>(source) << kTagBits) | tag;
}

ucs_memory_type_t MemoryType(MemoryKind kind) {
  return kind == MemoryKind::kCuda ? UCS_MEMORY_TYPE_CUDA
                                   : UCS_MEMORY_TYPE_HOST;
}

}  // namespace

struct UcxLane::Peer {
  UcxLane* lane = nullptr;
  int rank = -1;
  std::string address;
  ucp_ep_h endpoint = nullptr;
  Operation* first = nullptr;  // in flight
  Status failure;
  bool broke = false;      // UCX reported `failure`; nobody asked for it
  bool connected = false;  // a send went through
};

// Lives in the part of a UCX request that is ours. UCX hands requests out again
// and again without touching that part: it is kIdle whenever UCX owns it.
struct UcxLane::Operation {
  enum State : uint8_t { kIdle, kTracked, kDetached, kEndedEarly };

  State state;
  bool is_receive;
  ucs_status_t early_status;  // kEndedEarly: before the post returned
  size_t early_bytes;
  Operation* next;
  Operation* previous;
  Peer* peer;
  Transfer* transfer;
  uint64_t tag;
  size_t bytes;
};

Result<std::unique_ptr<UcxLane>> UcxLane::Open(int lane,
                                               UcxWorkerOptions options) {
  std::unique_ptr<UcxLane> opened(new UcxLane(lane));
  options.request_bytes = sizeof(Operation);
  options.request_init = [](void* request) { new (request) Operation(); };
  RONDO_ASSIGN_OR_RETURN(opened->worker_, UcxWorker::Open(options));
  opened->supports_cuda_ = opened->worker_->Supports(MemoryKind::kCuda);
  return opened;
}

UcxLane::UcxLane(int lane) : lane_(lane) {}

// The worker goes first: UCX may call back while it is destroyed.
UcxLane::~UcxLane() { worker_.reset(); }

void UcxLane::Connect(int rank, std::vector<std::string> addresses) {
  rank_ = rank;
  peer_count_ = static_cast<int>(addresses.size());
  peers_ = std::make_unique<Peer[]>(addresses.size());
  for (int peer = 0; peer < peer_count_; ++peer) {
    peers_[peer].lane = this;
    peers_[peer].rank = peer;
    peers_[peer].address = std::move(addresses[peer]);
  }
}

Status UcxLane::OpenEndpoint(Peer* peer) {
  if (peer->endpoint != nullptr) return Status::Ok();
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(peer->address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = &UcxLane::OnBrokenPath;
  params.err_handler.arg = peer;
  const ucs_status_t status =
      ucp_ep_create(worker_->handle(), &params, &peer->endpoint);
  if (status == UCS_OK) return Status::Ok();
  peer->endpoint = nullptr;
  return UcxError("rank " + std::to_string(rank_) + ": rank " +
                      std::to_string(peer->rank) +
                      " cannot be reached on lane " + std::to_string(lane_),
                  status);
}

void UcxLane::OnBrokenPath(void* argument, ucp_ep_h, ucs_status_t status) {
  Peer* peer = static_cast<Peer*>(argument);
  UcxLane* lane = peer->lane;
  if (!peer->failure.ok()) return;
  peer->failure =
      UcxError("rank " + std::to_string(lane->rank_) + ": the path to rank " +
                   std::to_string(peer->rank) + " on lane " +
                   std::to_string(lane->lane_) + " broke",
               status);
  peer->broke = true;
  lane->broken_.push_back(peer);
}

Status UcxLane::RefusalOf(const Peer& peer) const {
  return peer.failure.ok() ? shut_down_ : peer.failure;
}

Status UcxLane::Outcome(const Operation& operation, ucs_status_t status,
                        size_t message_bytes) const {
  const Peer& peer = *operation.peer;
  const uint64_t tag = operation.tag & kMaxTag;
  if (operation.is_receive &&
      (status == UCS_ERR_MESSAGE_TRUNCATED ||
       (status == UCS_OK && message_bytes != operation.bytes))) {
    return SizeMismatch(rank_, peer.rank, lane_, tag, operation.bytes,
                        message_bytes);
  }
  if (status == UCS_OK) return Status::Ok();
  if (!peer.failure.ok()) return peer.failure;
  const char* verb = operation.is_receive ? "receive from" : "send to";
  return UcxError(DescribeTransfer(rank_, verb, peer.rank, lane_, tag), status);
}

void UcxLane::FinishTransfer(const Operation& operation, ucs_status_t status,
                             size_t message_bytes) {
  if (!operation.is_receive && status == UCS_OK) {
    operation.peer->connected = true;
  }
  operation.transfer->Finish(Outcome(operation, status, message_bytes));
}

void UcxLane::Track(void* request, Peer* peer, uint64_t tag, size_t bytes,
                    bool is_receive, Transfer* transfer) {
  if (!UCS_PTR_IS_PTR(request)) {
    Operation never_started{};
    never_started.peer = peer;
    never_started.transfer = transfer;
    never_started.tag = tag;
    never_started.bytes = bytes;
    never_started.is_receive = is_receive;
    return FinishTransfer(never_started, UCS_PTR_STATUS(request), bytes);
  }
  Operation* operation = static_cast<Operation*>(request);
  operation->is_receive = is_receive;
  operation->peer = peer;
  operation->transfer = transfer;
  operation->tag = tag;
  operation->bytes = bytes;
  if (operation->state == Operation::kEndedEarly) {
    operation->state = Operation::kIdle;
    FinishTransfer(*operation, operation->early_status, operation->early_bytes);
    return ucp_request_free(request);
  }
  operation->state = Operation::kTracked;
  operation->next = peer->first;
  operation->previous = nullptr;
  if (peer->first != nullptr) peer->first->previous = operation;
  peer->first = operation;
}

void UcxLane::End(Operation* operation, ucs_status_t status,
                  size_t message_bytes) {
  if (operation->state == Operation::kIdle) {
    // UCX calls back from inside the posting call; Track() sees to the rest.
    operation->state = Operation::kEndedEarly;
    operation->early_status = status;
    operation->early_bytes = message_bytes;
    return;
  }
  if (operation->state == Operation::kTracked) {
    Operation* next = operation->next;
    Operation* previous = operation->previous;
    if (next != nullptr) next->previous = previous;
    if (previous != nullptr) previous->next = next;
    if (previous == nullptr) operation->peer->first = next;
    operation->peer->lane->FinishTransfer(*operation, status, message_bytes);
  }
  operation->state = Operation::kIdle;
  ucp_request_free(operation);
}

void UcxLane::OnSend(void* request, ucs_status_t status, void*) {
  End(static_cast<Operation*>(request), status, 0);
}

void UcxLane::OnReceive(void* request, ucs_status_t status,
                        const ucp_tag_recv_info_t* info, void*) {
  End(static_cast<Operation*>(request), status, info->length);
}

void UcxLane::Send(int to, uint64_t tag, const ConstBuffer& buffer,
                   Transfer* transfer) {
  Peer* peer = &peers_[to];
  Status refusal = RefusalOf(*peer);
  if (refusal.ok()) refusal = OpenEndpoint(peer);
  if (!refusal.ok()) return transfer->Finish(std::move(refusal));
  ucp_request_param_t param{};
  param.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.cb.send = &UcxLane::OnSend;
  param.memory_type = MemoryType(buffer.kind);
  ucs_status_ptr_t request = ucp_tag_send_nbx(
      peer->endpoint, buffer.data, buffer.bytes, UcxTag(rank_, tag), &param);
  Track(request, peer, tag, buffer.bytes, /*is_receive=*/false, transfer);
}

bool UcxLane::HasUnexpected(int source, uint64_t tag) const {
  ucp_tag_recv_info_t info;
  return shut_down_.ok() &&
         ucp_tag_probe_nb(worker_->handle(), UcxTag(source, tag), ~uint64_t{0},
                          /*remove=*/0, &info) != nullptr;
}

void UcxLane::Receive(int from, uint64_t tag, const MutableBuffer& buffer,
                      Transfer* transfer) {
  Peer* peer = &peers_[from];
  Status refusal = RefusalOf(*peer);
  // What came before the path broke is whole and may still be had.
  const bool leftover = peer->broke && HasUnexpected(from, tag);
  if (refusal.ok()) refusal = OpenEndpoint(peer);
  if (!refusal.ok() && !leftover) return transfer->Finish(std::move(refusal));
  ucp_request_param_t param{};
  // Of a receive that completes at once UCX 1.13 does not tell the length.
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                       UCP_OP_ATTR_FIELD_MEMORY_TYPE |
                       UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  param.cb.recv = &UcxLane::OnReceive;
  param.memory_type = MemoryType(buffer.kind);
  ucs_status_ptr_t request =
      ucp_tag_recv_nbx(worker_->handle(), buffer.data, buffer.bytes,
                       UcxTag(from, tag), ~uint64_t{0}, &param);
  Track(request, peer, tag, buffer.bytes, /*is_receive=*/true, transfer);
}

int UcxLane::Progress() {
  if (!shut_down_.ok()) return 0;
  int events = static_cast<int>(ucp_worker_progress(worker_->handle()));
  if (!broken_.empty()) {
    events += static_cast<int>(broken_.size());
    EndBrokenPaths();
  }
  return events;
}

void UcxLane::EndBrokenPaths() {
  std::vector<Peer*> broken;
  broken.swap(broken_);
  for (Peer* peer : broken) {
    EndTransfers(peer->rank, peer->rank + 1, Deadline::AfterMs(kLetGoMs));
  }
}

void UcxLane::FailPeers(int first, int last, const Status& why,
                        Deadline deadline) {
  for (int rank = first; rank < last; ++rank) {
    Peer& peer = peers_[rank];
    if (peer.failure.ok() || peer.broke) peer.failure = why;
    peer.broke = false;
  }
  if (shut_down_.ok()) EndTransfers(first, last, deadline);
}

void UcxLane::CancelReceives(const Peer& peer) {
  for (Operation* operation = peer.first; operation != nullptr;) {
    Operation* next = operation->next;  // cancelling may free `operation`
    if (operation->is_receive) {
      ucp_request_cancel(worker_->handle(), operation);
    }
    operation = next;
  }
}

void UcxLane::CloseEndpoint(Peer* peer) {
  if (peer->endpoint == nullptr) return;
  if (!peer->connected && !MayCloseConnectingEndpoints()) return;
  ucp_request_param_t force{};
  force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  force.flags = UCP_EP_CLOSE_FLAG_FORCE;
  ucs_status_ptr_t request = ucp_ep_close_nbx(peer->endpoint, &force);
  peer->endpoint = nullptr;
  if (UCS_PTR_IS_PTR(request)) closing_.push_back(request);
}

void UcxLane::ForgetClosed() {
  std::erase_if(closing_, [](void* request) {
    if (ucp_request_check_status(request) == UCS_INPROGRESS) return false;
    ucp_request_free(request);
    return true;
  });
}

void UcxLane::EndTransfers(int first, int last, Deadline deadline) {
  for (int rank = first; rank < last; ++rank) {
    CancelReceives(peers_[rank]);
    CloseEndpoint(&peers_[rank]);
  }
  int rank = first;
  while (true) {
    ForgetClosed();
    while (rank < last && peers_[rank].first == nullptr) ++rank;
    if ((rank == last && closing_.empty()) || deadline.expired()) break;
    ucp_worker_progress(worker_->handle());
  }
  for (; rank < last; ++rank) Detach(&peers_[rank]);
}

void UcxLane::Detach(Peer* peer) {
  if (peer->first == nullptr) return;
  shut_down_ = Status(
      Code::kTransport,
      "rank " + std::to_string(rank_) + ": lane " + std::to_string(lane_) +
          " was shut down: rank " + std::to_string(peer->rank) +
          " failed in the middle of a message, and UCX still holds its buffer");
  for (int rank = 0; rank < peer_count_; ++rank) {
    Peer& other = peers_[rank];
    for (Operation* operation = other.first; operation != nullptr;
         operation = operation->next) {
      operation->state = Operation::kDetached;
      operation->transfer->Finish(RefusalOf(other));
    }
    other.first = nullptr;
  }
}

void UcxLane::PrepareToClose(bool forked, Deadline deadline) {
  if (forked) return worker_->Abandon();
  if (MayCloseConnectingEndpoints()) return;
  // Paths that UCX is still setting up, perhaps at the peer's wish, make the
  // destruction of a worker unsafe; once they are flushed none is left.
  if (!shut_down_.ok() || !Flush(deadline)) worker_->Abandon();
}

std::vector<int> UcxLane::LivePeers() const {
  std::vector<int> live;
  for (int rank = 0; rank < peer_count_; ++rank) {
    if (peers_[rank].endpoint != nullptr) live.push_back(rank);
  }
  return live;
}

std::vector<int> UcxLane::BusyPeers() const {
  std::vector<int> busy;
  for (int rank = 0; rank < peer_count_; ++rank) {
    if (peers_[rank].first != nullptr) busy.push_back(rank);
  }
  return busy;
}

bool UcxLane::Flush(Deadline deadline) {
  ucp_request_param_t param{};
  ucs_status_ptr_t request = ucp_worker_flush_nbx(worker_->handle(), &param);
  if (!UCS_PTR_IS_PTR(request)) return true;
  Backoff backoff;
  while (ucp_request_check_status(request) == UCS_INPROGRESS) {
    if (deadline.expired()) break;
    if (Progress() == 0) backoff.Pause();
  }
  const bool flushed = ucp_request_check_status(request) != UCS_INPROGRESS;
  ucp_request_free(request);
  return flushed;
}

}  // namespace rondo
