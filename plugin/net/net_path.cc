#include "plugin/net/net_path.h"

#include <utility>

namespace rondo::plugin {
namespace {

// How often the link is looked at: a system call.
constexpr int64_t kLookEveryNs = 5'000'000;
// What the peer sent before it went may still be on its way to us.
constexpr int64_t kDrainNs = 100'000'000;
// How long closing may take; not the peer's doing, but UCX's.
constexpr int64_t kCloseMs = 100;
// Progress calls in one round: enough to empty a socket's worth of messages,
// few enough to stay far below a millisecond.
constexpr int kRounds = 4;

bool Ended(void* request) {
  return ucp_request_check_status(request) != UCS_INPROGRESS;
}

// The next state of a request that is waited for.
void* Settle(void* request) {
  if (request == nullptr || !Ended(request)) return request;
  ucp_request_free(request);
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<NetPath>> NetPath::Open(
    std::shared_ptr<UcxContext> context, int64_t peer_timeout_ms) {
  RONDO_ASSIGN_OR_RETURN(auto worker, UcxWorker::OpenOn(std::move(context)));
  std::unique_ptr<NetPath> path(
      new NetPath(std::move(worker), peer_timeout_ms));
  path->Handle(kGreetingMessage, &NetPath::OnGreeting, path.get());
  return path;
}

void NetPath::Handle(unsigned id, ucp_am_recv_callback_t callback,
                     void* argument) {
  ucp_am_handler_param_t param{};
  param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                     UCP_AM_HANDLER_PARAM_FIELD_CB |
                     UCP_AM_HANDLER_PARAM_FIELD_ARG;
  param.id = id;
  param.cb = callback;
  param.arg = argument;
  ucp_worker_set_am_recv_handler(worker(), &param);
}

Status NetPath::Attach(PeerLink link, const std::string& peer_address) {
  link_ = std::move(link);
  attached_ = true;
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(peer_address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = &NetPath::OnBrokenPath;
  params.err_handler.arg = this;
  const ucs_status_t status = ucp_ep_create(worker(), &params, &endpoint_);
  if (status != UCS_OK) {
    endpoint_ = nullptr;
    return Fail(UcxError("peer " + peer() + " cannot be reached", status));
  }
  last_event_ns_ = NowNs();
  ucp_request_param_t none{};
  greeting_ = ucp_am_send_nbx(endpoint_, kGreetingMessage, nullptr, 0, nullptr,
                              0, &none);
  if (UCS_PTR_IS_ERR(greeting_)) {
    const ucs_status_t refused =
        UCS_PTR_STATUS(std::exchange(greeting_, nullptr));
    return Fail(UcxError("greeting peer " + peer(), refused));
  }
  return Status::Ok();
}

Status NetPath::Wire() {
  Progress();
  greeting_ = Settle(greeting_);
  if (greeting_ == nullptr && !flush_started_) {
    ucp_request_param_t none{};
    flush_ = ucp_ep_flush_nbx(endpoint_, &none);
    if (!UCS_PTR_IS_PTR(flush_)) flush_ = nullptr;
    flush_started_ = true;
  }
  flush_ = Settle(flush_);
  const bool settled =
      flush_started_ && greeting_ == nullptr && flush_ == nullptr;
  if (settled && greeted_ && !said_ready_) {
    link_.Queue("ready");
    said_ready_ = true;
  }
  if (broken_ != UCS_OK) {
    return Fail(UcxError("the path to peer " + peer() + " broke", broken_));
  }
  const Status advanced = link_.Advance();
  if (!advanced.ok()) return Fail(advanced);
  if (!peer_ready_ && link_.HasMessage()) {
    link_.TakeMessage();
    peer_ready_ = true;
  }
  return Status::Ok();
}

ucs_status_t NetPath::OnGreeting(void* self, const void*, size_t, void*, size_t,
                                 const ucp_am_recv_param_t*) {
  static_cast<NetPath*>(self)->greeted_ = true;
  return UCS_OK;
}

void NetPath::OnBrokenPath(void* self, ucp_ep_h, ucs_status_t status) {
  static_cast<NetPath*>(self)->broken_ = status;
}

bool NetPath::Progress() {
  for (int round = 0; round < kRounds; ++round) {
    if (ucp_worker_progress(worker()) == 0) return false;
    last_event_ns_ = NowNs();
  }
  return true;
}

void NetPath::LookAtLink(int64_t now_ns) {
  if (now_ns - last_look_ns_ < kLookEveryNs) return;
  last_look_ns_ = now_ns;
  if (gone_since_ns_ != 0) return;
  const PeerLink::State state = link_.Look();
  goodbye_ = state == PeerLink::State::kSaidGoodbye;
  if (state != PeerLink::State::kOpen || broken_ != UCS_OK) {
    gone_since_ns_ = now_ns;
  }
}

Status NetPath::CheckPeer(int64_t waiting_since_ns) {
  if (!failure_.ok()) return failure_;
  const int64_t now_ns = NowNs();
  LookAtLink(now_ns);
  const int64_t silent_ns = now_ns - last_event_ns_;
  if (gone_since_ns_ != 0 && now_ns - gone_since_ns_ > kDrainNs &&
      silent_ns > kDrainNs) {
    std::string why = goodbye_ ? "it closed the communicator before its part "
                                 "was done"
                               : "its process ended or its host is unreachable";
    if (broken_ != UCS_OK) {
      why += std::string(" (UCX: ") + ucs_status_string(broken_) + ")";
    }
    return Fail(Status(Code::kRemoteDead, "peer " + peer() + ": " + why));
  }
  const int64_t timeout_ns = peer_timeout_ms_ * 1'000'000;
  if (timeout_ns > 0 && silent_ns > timeout_ns &&
      now_ns - waiting_since_ns > timeout_ns) {
    return Fail(Status(Code::kTimeout,
                       "peer " + peer() + ": silent for more than " +
                           std::to_string(peer_timeout_ms_ / 1000) +
                           " s (RONDO_NET_PEER_TIMEOUT_S) with requests in "
                           "flight"));
  }
  return Status::Ok();
}

Status NetPath::Fail(Status why) {
  if (failure_.ok()) failure_ = std::move(why);
  return failure_;
}

bool NetPath::Await(void* request, int64_t most_ms) {
  if (!UCS_PTR_IS_PTR(request)) return true;
  const Deadline deadline = Deadline::AfterMs(most_ms);
  while (!Ended(request)) {
    if (deadline.expired()) return false;
    ucp_worker_progress(worker());
  }
  ucp_request_free(request);
  return true;
}

bool NetPath::CloseEndpoint() {
  if (endpoint_ == nullptr) return true;
  // UCX 1.13 aborts when an endpoint is closed that is still being set up.
  if (!greeted_ && broken_ == UCS_OK && !MayCloseConnectingEndpoints()) {
    return false;
  }
  ucp_request_param_t force{};
  force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  force.flags = UCP_EP_CLOSE_FLAG_FORCE;
  return Await(ucp_ep_close_nbx(std::exchange(endpoint_, nullptr), &force),
               kCloseMs);
}

NetPath::~NetPath() {
  if (attached_ && !CloseEndpoint()) abandoned_ = true;
  if (!abandoned_ && !MayCloseConnectingEndpoints()) {
    ucp_request_param_t none{};
    abandoned_ = !Await(ucp_worker_flush_nbx(worker(), &none), kCloseMs);
  }
  if (attached_) link_.Close();
  if (abandoned_) worker_->Abandon();
}

}  // namespace rondo::plugin
