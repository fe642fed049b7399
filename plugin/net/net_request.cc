#include "plugin/net/net_request.h"

#include "transports/base/clock.h"

namespace rondo::plugin {

RequestPool::RequestPool(NetComm* comm, int most)
    : requests_(static_cast<size_t>(most)) {
  free_.reserve(requests_.size());
  for (NetRequest& request : requests_) {
    request.comm = comm;
    for (size_t i = 0; i < request.parts.size(); ++i) {
      request.parts[i].owner = &request;
      request.parts[i].index = static_cast<int>(i);
    }
    free_.push_back(&request);
  }
}

NetRequest* RequestPool::Take() {
  if (free_.empty()) return nullptr;
  NetRequest* request = free_.back();
  free_.pop_back();
  ++used_;
  request->used = true;
  request->is_receive = false;
  request->count = 0;
  request->pending = 0;
  request->posted_ns = NowNs();
  request->failure = Status::Ok();
  request->bytes.fill(0);
  return request;
}

void RequestPool::Release(NetRequest* request) {
  request->used = false;
  --used_;
  free_.push_back(request);
}

}  // namespace rondo::plugin
