// One UCX context with one worker: what a lane is made of.
//
// Opening applies the lane's settings over the user's UCX_* environment, and
// refuses a device that UCX does not have, naming those that it has.
//
// Thread-safety: one thread at a time. Ownership: destruction closes both,
// unless Abandon() was called: a forked child must not run UCX's clean-up.
#pragma once

#include <ucp/api/ucp.h>

#include <memory>
#include <string>
#include <vector>

#include "transports/base/status.h"
#include "transports/contract/transport.h"

namespace rondo {

struct UcxWorkerOptions {
  std::string device;      // empty: all
  std::string transports;  // a UCX_TLS expression
  // Memory of ours that goes with every UCX request, and what initialises it
  // when UCX allocates (not: reuses) one.
  size_t request_bytes = 0;
  void (*request_init)(void* request) = nullptr;
};

class UcxWorker {
 public:
  static Result<std::unique_ptr<UcxWorker>> Open(
      const UcxWorkerOptions& options);
  ~UcxWorker();

  ucp_worker_h handle() const { return worker_; }
  ucp_context_h context() const { return context_; }
  Result<std::string> Address() const;
  // Whether UCX was built with, and found, what this kind of memory needs.
  bool Supports(MemoryKind kind) const;
  // "tcp/eth0", "sysv/memory" and so on: what UCX has to move bytes with.
  const std::vector<std::string>& resources() const { return resources_; }
  void Abandon();

 private:
  UcxWorker() = default;
  Status OpenContext(const UcxWorkerOptions& options);
  Status OpenWorker();

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  std::vector<std::string> resources_;
};

// Whether an endpoint may be closed, and a worker destroyed, while a path is
// being set up. UCX 1.13 aborts the process when a reply to a connecting peer
// is queued.
bool MayCloseConnectingEndpoints();

// An error of UCX as ours: `what` failed.
Status UcxError(const std::string& what, ucs_status_t status);

}  // namespace rondo
