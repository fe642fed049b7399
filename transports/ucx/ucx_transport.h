// The UCX transport: tagged messages over whatever UCX finds between two ranks,
// network or shared memory. Works with UCX 1.13 and later.
//
// Each lane is one UCX context with one worker, pinned to one device when
// devices are named. Paths are set up by the first transfer with a peer. A
// 64-bit UCX tag holds, from the top: 1 bit for messages of the transport
// itself, 3 bits that are zero, 20 bits of source rank and 40 bits of the
// caller's tag, and is matched exactly; so there are at most 2^20 ranks and
// 2^40 tags (larger ones are refused).
//
// Errors. Endpoints are made with UCX's peer error handling, so a path that
// breaks ends the transfers that use it, with the rank's name; messages that
// had arrived before stay receivable. FailPeer gives UCX a bounded time to let
// go of the buffers. If it does not (a peer that stopped in the middle of a
// message), that lane is shut down for all peers: otherwise a late fragment
// could be written to a buffer that its owner has back.
//
// The process. No signal handler of UCX stays installed unless
// UCX_HANDLE_ERRORS, UCX_ERROR_SIGNALS or UCX_DEBUG_SIGNO ask for it. UCX_*
// variables are honoured; options given here go before them. In a child made by
// fork() every operation is refused; only exec makes it useful again.
//
// Thread-safety, ownership: as transports/contract/transport.h says. Transfers
// must outlive the transport or be done. The destructor ends those that are
// left.
//
// Example:
//   UcxOptions options;
//   options.devices = {"mlx5_0:1", "mlx5_1:1"};
//   RONDO_ASSIGN_OR_RETURN(auto transport, CreateUcxTransport(options));
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transports/base/status.h"
#include "transports/contract/transport.h"

namespace rondo {

struct UcxOptions {
  // One lane on each, as UCX_NET_DEVICES names them ("eth0", "mlx5_0:1"); at
  // most kMaxUcxLanes. Empty: one lane, on every device that UCX finds.
  std::vector<std::string> devices;
  // As UCX_TLS ("tcp", "posix,tcp", "^cma"). Empty: UCX_TLS if set, else all.
  std::string transports;
  // For lanes between hosts: no shared memory, also not to ranks of this host.
  bool network_only = false;
  // Room that each lane must find in /dev/shm. UCX cannot start with less and
  // has no other way out, so with less POSIX shared memory is left out, with a
  // warning.
  uint64_t shared_memory_bytes_per_lane = 8 << 20;
  // Hears of what was changed or left out, in words for people. Optional.
  std::function<void(const std::string&)> on_warning;
};

inline constexpr int kMaxUcxLanes = 16;

Result<std::unique_ptr<Transport>> CreateUcxTransport(
    const UcxOptions& options);

// "1.13.1": of the library that is loaded.
std::string UcxVersion();

}  // namespace rondo
