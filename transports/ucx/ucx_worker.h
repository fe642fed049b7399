// A UCX context, and a worker on it: what a lane is made of.
//
// Opening applies the lane's settings over the user's UCX_* environment, and
// refuses a device that UCX does not have, naming those that it has.
//
// Thread-safety: a worker, one thread at a time; a context, any thread when it
// was opened `shared`. Ownership: a worker holds its context; destruction
// closes both, unless Abandon() was called: a forked child must not run UCX's
// clean-up.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transports/base/status.h"
#include "transports/contract/transport.h"

namespace rondo {

struct UcxWorkerOptions {
  std::string device;      // empty: all
  std::string transports;  // a UCX_TLS expression
  uint64_t features = UCP_FEATURE_TAG;
  bool shared = false;  // by workers of several threads
  // Settings by UCX's names without UCX_ ("RNDV_THRESH"), each unless the
  // environment has it.
  std::map<std::string, std::string> defaults = {};
  // Memory of ours that goes with every UCX request, and what initialises it
  // when UCX allocates (not: reuses) one.
  size_t request_bytes = 0;
  void (*request_init)(void* request) = nullptr;
};

class UcxContext {
 public:
  static Result<std::shared_ptr<UcxContext>> Open(
      const UcxWorkerOptions& options);
  ~UcxContext();
  UcxContext(const UcxContext&) = delete;
  UcxContext& operator=(const UcxContext&) = delete;

  ucp_context_h handle() const { return context_; }
  // Whether UCX was built with, and found, what this kind of memory needs.
  bool Supports(MemoryKind kind) const;
  // "tcp/eth0", "sysv/memory" and so on: what UCX has to move bytes with.
  const std::vector<std::string>& resources() const { return resources_; }

 private:
  UcxContext() = default;
  Status OpenAny(const UcxWorkerOptions& options);

  ucp_context_h context_ = nullptr;
  std::vector<std::string> resources_;
};

class UcxWorker {
 public:
  // On a context of its own, or on one that is shared.
  static Result<std::unique_ptr<UcxWorker>> Open(
      const UcxWorkerOptions& options);
  static Result<std::unique_ptr<UcxWorker>> OpenOn(
      std::shared_ptr<UcxContext> context);
  ~UcxWorker();

  ucp_worker_h handle() const { return worker_; }
  ucp_context_h context() const { return context_->handle(); }
  Result<std::string> Address() const;
  bool Supports(MemoryKind kind) const { return context_->Supports(kind); }
  const std::vector<std::string>& resources() const {
    return context_->resources();
  }
  void Abandon();

 private:
  explicit UcxWorker(std::shared_ptr<UcxContext> context)
      : context_(std::move(context)) {}

  std::shared_ptr<UcxContext> context_;
  ucp_worker_h worker_ = nullptr;
};

// Whether an endpoint may be closed, and a worker destroyed, while a path is
// being set up. UCX 1.13 aborts the process when a reply to a connecting peer
// is queued.
bool MayCloseConnectingEndpoints();

// An error of UCX as ours: `what` failed.
Status UcxError(const std::string& what, ucs_status_t status);

}  // namespace rondo
