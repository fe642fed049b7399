// NetFlush: a read of received memory by the adapter that wrote it.
//
// PCI lets a GPU see a completion before the data; a read through the same
// adapter pushes the data ahead of itself. The path goes to the own worker.
//
// Thread-safety: the communicator's lock. Ownership: the endpoint and the keys;
// Close() before the worker ends. Failure: names what UCX refused.
#pragma once

#include <ucp/api/ucp.h>

#include <map>

#include "plugin/net/net_memory.h"
#include "plugin/net/net_path.h"

namespace rondo::plugin {

class NetFlush {
 public:
  // Starts to read one byte; what UCX returned of it.
  Result<ucs_status_ptr_t> Read(NetPath* path, const void* data,
                                const NetMemory* memory,
                                const ucp_request_param_t* param);
  void Forget(const NetMemory* memory);
  // False when UCX would not end it.
  bool Close(NetPath* path);

 private:
  Status Open(NetPath* path);

  ucp_ep_h endpoint_ = nullptr;
  std::map<const NetMemory*, ucp_rkey_h> keys_;
  char landing_ = 0;
};

}  // namespace rondo::plugin
