// NetRequest: one isend, irecv or iflush in flight, and the pool they are from.
//
// Thread-safety: the communicator's lock. Ownership: requests live in their
// communicator's pool, which never grows; a request is free again after test()
// has told of its end.
#pragma once

#include <ucp/api/ucp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/base/status.h"

namespace rondo::plugin {

class NetComm;

// Receives in one irecv.
inline constexpr int kMaxReceives = 8;

// What a receiver tells the sender: buffers are ready, in this order.
struct GrantEntry {
  uint64_t bytes;
  int32_t tag;
  int32_t reserved;
};
struct Grant {
  uint64_t first_sequence;
  uint64_t received;  // messages so far: spares a message of its own
  uint32_t count;
  uint32_t reserved;
  GrantEntry entries[kMaxReceives];
};

struct NetRequest {
  // One operation of UCX that must end before the request does.
  struct Part {
    NetRequest* owner = nullptr;
    int index = 0;
    void* ucx_request = nullptr;
  };

  NetComm* comm = nullptr;
  bool used = false;
  bool is_receive = false;
  int count = 0;    // sizes to report
  int pending = 0;  // parts under way
  int64_t posted_ns = 0;
  Status failure;
  std::array<size_t, kMaxReceives> posted_bytes{};
  std::array<int, kMaxReceives> tags{};
  std::array<size_t, kMaxReceives> bytes{};
  // The buffers, then the grant.
  std::array<Part, kMaxReceives + 1> parts{};
  Grant grant{};
};

inline constexpr int kGrantPart = kMaxReceives;

class RequestPool {
 public:
  RequestPool(NetComm* comm, int most);
  // Null when all are in flight.
  NetRequest* Take();
  void Release(NetRequest* request);
  int used() const { return used_; }
  std::vector<NetRequest>& all() { return requests_; }

 private:
  std::vector<NetRequest> requests_;
  std::vector<NetRequest*> free_;
  int used_ = 0;
};

}  // namespace rondo::plugin
