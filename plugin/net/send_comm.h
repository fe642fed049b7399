// SendComm: the sending side of a connection.
//
// A message leaves once the receiver has granted a buffer with its tag; until
// then isend() says "not yet". So nothing is ever sent that nobody waits for,
// and a message always meets a posted receive. The last request in flight is
// done when the receiver has said that it has everything: what UCX still held
// of it would otherwise never leave if the caller had nothing more to do.
//
// Thread-safety, ownership, failure: as NetComm.
#pragma once

#include <deque>
#include <memory>

#include "plugin/net/net_comm.h"

namespace rondo::plugin {

class SendComm final : public NetComm {
 public:
  // Handles what the path receives from now on; before Attach().
  class GrantQueue {
   public:
    explicit GrantQueue(NetPath* path);
    struct Entry {
      uint64_t sequence;
      uint64_t bytes;
      int tag;
    };
    std::deque<Entry> entries;
    uint64_t received = 0;  // messages that the receiver has, as it says

   private:
    static ucs_status_t OnReceived(void* self, const void* header,
                                   size_t header_bytes, void* data,
                                   size_t bytes,
                                   const ucp_am_recv_param_t* param);
    static ucs_status_t OnGrant(void* self, const void* header,
                                size_t header_bytes, void* data, size_t bytes,
                                const ucp_am_recv_param_t* param);
  };

  SendComm(std::unique_ptr<NetPath> path, std::shared_ptr<UcxContext> context,
           std::unique_ptr<GrantQueue> grants);
  ~SendComm() override;

  // *request null: not yet.
  Status Send(void* data, size_t bytes, int tag, const NetMemory* memory,
              NetRequest** request);

 protected:
  bool Settle(bool done, bool more) override;
  Status Explain(const NetRequest& request, int part,
                 ucs_status_t status) const override;

 private:
  struct Refusal {
    uint64_t sequence;
    uint64_t bytes;
  };
  Status Refuse(const GrantQueue::Entry& grant, size_t bytes);

  std::unique_ptr<GrantQueue> grants_;
  uint64_t sent_ = 0;
};

}  // namespace rondo::plugin
