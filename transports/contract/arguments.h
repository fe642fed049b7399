// The checks and error texts that every transport shares, so that a wrong call
// is refused with the same words whichever transport carries it.
//
// Thread-safety: pure functions. Failure: a Status that names this rank, the
// peer, the value, and what is accepted.
//
// Example:
//   Status bad = CheckTransfer(shape, "send to", peer, lane, tag, data, bytes);
//   if (!bad.ok()) return transfer->Finish(std::move(bad));
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "transports/base/status.h"

namespace rondo {

// This rank's place in its group.
struct GroupShape {
  int rank = -1;  // -1: not connected yet
  int world_size = 0;
  int lane_count = 0;
};

// Whether a transfer may be posted at all. `verb` is "send to" or "receive
// from".
Status CheckTransfer(const GroupShape& shape, const char* verb, int peer,
                     int lane, uint64_t tag, const void* data, size_t bytes);

// Whether Connect may proceed: a rank within `address_count` addresses.
Status CheckConnect(const GroupShape& shape, int rank, size_t address_count);

// "rank 0: receive from rank 1, lane 0, tag 7": how errors name a transfer.
std::string DescribeTransfer(int rank, const char* verb, int peer, int lane,
                             uint64_t tag);

// A message whose size differs from the buffer that was posted for it.
Status SizeMismatch(int rank, int peer, int lane, uint64_t tag,
                    size_t buffer_bytes, size_t message_bytes);

}  // namespace rondo
