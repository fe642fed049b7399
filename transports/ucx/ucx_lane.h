// One lane: a worker, its endpoints, and the operations that are under way on
// it.
//
// Every operation in flight has a record inside its own UCX request, linked in
// its peer's list; so posting allocates nothing, and failing a peer finds all
// that it must end. UCX never ends a posted receive when the peer is gone: it
// is cancelled here.
//
// Thread-safety: one thread at a time. Ownership: records point to the callers'
// transfers until those are done; a record that UCX would not give back in time
// is detached from its transfer and the lane is shut down.
#pragma once

#include <ucp/api/ucp.h>

#include <memory>
#include <string>
#include <vector>

#include "transports/base/clock.h"
#include "transports/base/status.h"
#include "transports/contract/transport.h"
#include "transports/ucx/ucx_worker.h"

namespace rondo {

// Marks messages of the transport itself, apart from the caller's tags.
inline constexpr uint64_t kUcxControlTag = uint64_t{1} << 63;

class UcxLane {
 public:
  static Result<std::unique_ptr<UcxLane>> Open(int lane,
                                               UcxWorkerOptions options);
  ~UcxLane();

  const UcxWorker& worker() const { return *worker_; }
  bool Supports(MemoryKind kind) const {
    return kind == MemoryKind::kHost || supports_cuda_;
  }

  // `addresses[r]`: rank r's worker address of this lane.
  void Connect(int rank, std::vector<std::string> addresses);

  // `tag`: the caller's, with kUcxControlTag for our own messages.
  void Send(int peer, uint64_t tag, const ConstBuffer& buffer,
            Transfer* transfer);
  void Receive(int peer, uint64_t tag, const MutableBuffer& buffer,
               Transfer* transfer);
  int Progress();

  // Ends all transfers with ranks first..last-1, present and future. UCX gets
  // until the deadline to let go of their buffers.
  void FailPeers(int first, int last, const Status& why, Deadline deadline);

  // Ranks that we have exchanged messages with and whose path is well.
  std::vector<int> LivePeers() const;
  // Ranks with transfers in flight.
  std::vector<int> BusyPeers() const;
  // Pushes out what was sent. False if that took longer than the deadline.
  bool Flush(Deadline deadline);
  // To be called last: makes destruction safe, or gives up UCX's state without
  // touching it (`forked`: always).
  void PrepareToClose(bool forked, Deadline deadline);

 private:
  struct Peer;
  struct Operation;

  explicit UcxLane(int lane);

  static void OnSend(void* request, ucs_status_t status, void* user_data);
  static void OnReceive(void* request, ucs_status_t status,
                        const ucp_tag_recv_info_t* info, void* user_data);
  static void OnBrokenPath(void* peer, ucp_ep_h endpoint, ucs_status_t status);

  Status OpenEndpoint(Peer* peer);
  Status RefusalOf(const Peer& peer) const;
  // The outcome for the caller of what UCX says.
  Status Outcome(const Operation& operation, ucs_status_t status,
                 size_t message_bytes) const;
  // Takes up the request of a posted operation, unless it has ended already.
  void Track(void* request, Peer* peer, uint64_t tag, size_t bytes,
             bool is_receive, Transfer* transfer);
  // An operation has ended; called by UCX, perhaps before it was tracked.
  static void End(Operation* operation, ucs_status_t status,
                  size_t message_bytes);
  void FinishTransfer(const Operation& operation, ucs_status_t status,
                      size_t message_bytes);
  bool HasUnexpected(int source, uint64_t tag) const;
  void EndBrokenPaths();
  void EndTransfers(int first, int last, Deadline deadline);
  void CancelReceives(const Peer& peer);
  void CloseEndpoint(Peer* peer);
  void ForgetClosed();
  void Detach(Peer* peer);

  const int lane_;
  int rank_ = -1;
  bool supports_cuda_ = false;
  std::unique_ptr<UcxWorker> worker_;
  std::unique_ptr<Peer[]> peers_;
  int peer_count_ = 0;
  std::vector<Peer*> broken_;   // reported by UCX, not handled yet
  std::vector<void*> closing_;  // close requests of endpoints
  Status shut_down_;            // why the lane is closed for all; ok while open
};

}  // namespace rondo
