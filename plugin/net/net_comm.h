// NetComm: what send and receive communicators share: a path, a lock, requests.
//
// Thread-safety: any thread; calls that find another one inside say "not yet"
// instead of waiting, so that no call takes long. Ownership: destruction ends
// what is in flight; afterwards nothing touches the caller's memory.
// Failure: test() reports the reason of a request's or the path's failure, and
// so does everything after it.
#pragma once

#include <memory>
#include <mutex>

#include "plugin/net/net_memory.h"
#include "plugin/net/net_path.h"
#include "plugin/net/net_request.h"

namespace rondo::plugin {

class NetComm {
 public:
  virtual ~NetComm();
  NetComm(const NetComm&) = delete;
  NetComm& operator=(const NetComm&) = delete;

  // *done becomes 1 once, with `sizes` (may be null) of what was moved.
  Status Test(NetRequest* request, int* done, int* sizes);

  Result<std::unique_ptr<NetMemory>> Register(void* data, size_t bytes,
                                              int type, int dma_buf);
  // To be called before `memory` ends.
  virtual void Forget(NetMemory*) {}

 protected:
  NetComm(std::unique_ptr<NetPath> path, std::shared_ptr<UcxContext> context,
          int most_requests);

  // To be called first by destructors: ends all requests.
  void EndRequests();
  // Takes up what a post to UCX returned for one part of a request.
  void Track(NetRequest::Part* part, ucs_status_ptr_t posted);
  // Parameters of a post for that part.
  static ucp_request_param_t PartParam(NetRequest::Part* part,
                                       const NetMemory* memory);
  static void OnPartDone(void* ucx_request, ucs_status_t status, void* part);
  // Called after progress (`more`: there may be more to come), with the lock.
  // Whether a request whose parts are done may be reported: a caller that is
  // told of its last one may never call again.
  virtual bool Settle(bool done, bool more) = 0;
  // Why this part failed, in words that name the peer and the sizes.
  virtual Status Explain(const NetRequest& request, int part,
                         ucs_status_t status) const = 0;
  void EndPart(NetRequest::Part* part, ucs_status_t status);

  std::mutex mutex_;
  std::shared_ptr<UcxContext> context_;
  std::unique_ptr<NetPath> path_;
  RequestPool pool_;
  bool ended_ = false;
};

}  // namespace rondo::plugin
