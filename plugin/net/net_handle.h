// What listen() hands to connect() in NCCL's 128 bytes.
//
// connect() keeps its own state in the same bytes between two calls, as NCCL
// allows; it is zero until the first.
//
// Thread-safety: plain data.
#pragma once

#include <cstdint>

#include "plugin/abi/net_types.h"

namespace rondo::plugin {

inline constexpr uint64_t kHandleMagic = 0x31'74'65'6e'6f'64'6e'72;

struct NetHandle {
  uint64_t magic;
  uint64_t nonce;  // tells this listener's callers from strays
  uint8_t family;
  uint8_t ip[16];
  uint32_t scope_id;
  uint16_t port;
  uint64_t connect_id;  // of the attempt under way; 0 before
};
static_assert(sizeof(NetHandle) <= nccl::kHandleBytes);

}  // namespace rondo::plugin
