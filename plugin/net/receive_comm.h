// ReceiveComm: the receiving side of a connection.
//
// irecv() posts its buffers and grants them to the sender, which fills them per
// tag in the order in which they were granted.
//
// Thread-safety, ownership, failure: as NetComm.
#pragma once

#include <memory>

#include "plugin/net/net_comm.h"
#include "plugin/net/net_flush.h"

namespace rondo::plugin {

class ReceiveComm final : public NetComm {
 public:
  ReceiveComm(std::unique_ptr<NetPath> path,
              std::shared_ptr<UcxContext> context);
  ~ReceiveComm() override;

  // 1 to kMaxReceives buffers; *request null: not yet. Entries of `memories`
  // may be null.
  Status Receive(int count, void** data, const size_t* bytes, const int* tags,
                 void** memories, NetRequest** request);
  // Reads from received memory through the adapter, so that what it wrote is
  // there for everyone. *request null: nothing to do.
  Status Flush(int count, void** data, const int* bytes, void** memories,
               NetRequest** request);
  void Forget(NetMemory* memory) override;

 protected:
  bool Settle(bool done, bool more) override;
  Status Explain(const NetRequest& request, int part,
                 ucs_status_t status) const override;

 private:
  static void OnReceived(void* ucx_request, ucs_status_t status,
                         const ucp_tag_recv_info_t* info, void* part);
  static ucs_status_t OnRefusal(void* self, const void* header,
                                size_t header_bytes, void* data, size_t bytes,
                                const ucp_am_recv_param_t* param);
  void PostBuffer(NetRequest* request, int index, void* data,
                  const NetMemory* memory);

  // Tells the sender how much has come; false: later.
  bool Acknowledge();

  uint64_t next_sequence_ = 0;
  uint64_t received_ = 0;
  uint64_t acknowledged_ = 0;
  uint64_t acknowledgment_ = 0;  // read by UCX while it leaves
  void* acknowledging_ = nullptr;
  NetFlush flush_;
};

}  // namespace rondo::plugin
