// NetPath: one worker and one endpoint to one peer, and the link beside them.
//
// Each communicator has a worker of its own: calls on one never wait for
// another, and closing it ends everything that could still touch the caller's
// memory. Progress happens only inside calls.
//
// A path is wired when both sides have said over the link that UCX has nothing
// left to set up: over tcp UCX needs calls on both sides until then, and a side
// that is done makes none.
//
// Thread-safety: one thread at a time (the communicator's lock). Ownership:
// owns the worker, the endpoint and the link. Failure: once failed, a path
// stays so, with the first reason.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto path, NetPath::Open(context));
//   RONDO_RETURN_IF_ERROR(path->Attach(std::move(link), peer_address));
//   while (!path->wired()) RONDO_RETURN_IF_ERROR(path->Wire());
#pragma once

#include <ucp/api/ucp.h>

#include <memory>
#include <string>

#include "plugin/net/peer_link.h"
#include "transports/base/clock.h"
#include "transports/base/status.h"
#include "transports/ucx/ucx_worker.h"

namespace rondo::plugin {

// Active messages between the two sides.
inline constexpr unsigned kGreetingMessage = 1;
inline constexpr unsigned kGrantMessage = 2;
inline constexpr unsigned kRefusalMessage = 3;
inline constexpr unsigned kReceivedMessage = 4;

class NetPath {
 public:
  static Result<std::unique_ptr<NetPath>> Open(
      std::shared_ptr<UcxContext> context, int64_t peer_timeout_ms);
  // Bounded, also when the peer is gone or messages are in flight.
  ~NetPath();
  NetPath(const NetPath&) = delete;
  NetPath& operator=(const NetPath&) = delete;

  Result<std::string> Address() const { return worker_->Address(); }
  Status Attach(PeerLink link, const std::string& peer_address);
  Status Wire();
  bool wired() const { return said_ready_ && peer_ready_ && link_.sent(); }

  // Receives active messages `id`; register before Attach.
  void Handle(unsigned id, ucp_am_recv_callback_t callback, void* argument);

  // One bounded round of progress; false when nothing more was there.
  bool Progress();
  // Why requests in flight will never end; ok while they may. `waiting_since`:
  // when the oldest of them was posted.
  Status CheckPeer(int64_t waiting_since_ns);
  Status Fail(Status why);
  const Status& failure() const { return failure_; }

  ucp_worker_h worker() const { return worker_->handle(); }
  ucp_context_h context() const { return worker_->context(); }
  ucp_ep_h endpoint() const { return endpoint_; }
  const std::string& peer() const { return link_.peer(); }
  // Whether the peer closed the communicator in good order.
  bool peer_said_goodbye() const { return goodbye_; }

  // Ends all that is in flight; its callbacks have run when this returns true.
  bool CloseEndpoint();
  // Leaves the worker to UCX: something would not end.
  void Abandon() { abandoned_ = true; }

 private:
  explicit NetPath(std::unique_ptr<UcxWorker> worker, int64_t peer_timeout_ms)
      : worker_(std::move(worker)), peer_timeout_ms_(peer_timeout_ms) {}

  static void OnBrokenPath(void* self, ucp_ep_h endpoint, ucs_status_t status);
  static ucs_status_t OnGreeting(void* self, const void* header,
                                 size_t header_bytes, void* data, size_t bytes,
                                 const ucp_am_recv_param_t* param);
  void LookAtLink(int64_t now_ns);
  // Waits for a request of UCX, at most so long; false when it did not end.
  bool Await(void* request, int64_t most_ms);

  std::unique_ptr<UcxWorker> worker_;
  ucp_ep_h endpoint_ = nullptr;
  PeerLink link_;
  bool attached_ = false;
  bool greeted_ = false;  // by the peer
  bool flush_started_ = false;
  void* greeting_ = nullptr;  // ours, until it has left
  void* flush_ = nullptr;
  bool goodbye_ = false;
  bool said_ready_ = false;
  bool peer_ready_ = false;
  bool abandoned_ = false;
  ucs_status_t broken_ = UCS_OK;
  int64_t peer_timeout_ms_;  // 0: none
  int64_t last_event_ns_ = 0;
  int64_t last_look_ns_ = 0;
  int64_t gone_since_ns_ = 0;  // 0: still there
  Status failure_;
};

}  // namespace rondo::plugin
