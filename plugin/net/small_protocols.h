// Whether NCCL's small-message protocols are safe over a transport.
//
// LL relies on 8-byte stores, LL128 on 128-byte stores, arriving whole and in
// order while a GPU polls the buffer. Where a CPU copies the bytes out of a
// socket, or UCX may split a message over several paths, nothing promises that.
//
// Thread-safety: stateless.
#pragma once

#include <string>
#include <vector>

namespace rondo::plugin {

struct StoreGuarantee {
  const char* transport;
  bool whole_8_bytes;
  bool whole_128_bytes;
  const char* reason;
};

const std::vector<StoreGuarantee>& StoreGuarantees();

// What to warn of for these UCX transports; empty when all is safe or
// `protocols` (NCCL_PROTO) already says Simple alone.
std::string SmallProtocolAdvice(const std::string& transports,
                                const std::string& protocols);

}  // namespace rondo::plugin
