// Which network interface the bootstrap listens on: one address, never all.
//
// `socket_ifname` follows NCCL_SOCKET_IFNAME: a comma-separated list of name
// prefixes ("eth,ib"); `=eth0` matches the whole name; `^docker` takes all but
// these; `^=lo` all but exactly this one. Empty chooses the first address that
// other hosts could reach: up, not loopback, not a container or virtual-machine
// bridge, not link-local; loopback when there is none.
//
// Thread-safety: stateless. Failure: names the filter and the interfaces seen.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto interfaces, ListInterfaces());
//   RONDO_ASSIGN_OR_RETURN(Interface mine, ChooseInterface("eth", interfaces));
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "transports/base/status.h"
#include "transports/bootstrap/address.h"

namespace rondo {

struct Interface {
  std::string name;
  SocketAddress address;  // its port is 0
  bool up = false;
  bool loopback = false;
};

// Every IPv4 and IPv6 address of this machine, in the system's order.
Result<std::vector<Interface>> ListInterfaces();

Result<Interface> ChooseInterface(std::string_view socket_ifname,
                                  const std::vector<Interface>& interfaces);

}  // namespace rondo
