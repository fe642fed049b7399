// The network devices of this machine that NCCL may use.
//
// Devices are active RDMA ports or, on a machine without any, network
// interfaces that are up and have an address. Loopback counts when it is asked
// for by name or nothing else is there.
//
// Thread-safety: stateless. Ownership: values. Failure: a name in `wanted` that
// no device has is refused with the names that there are.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto devices, FindNetDevices("/sys", {}, ""));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transports/base/status.h"
#include "transports/bootstrap/address.h"

namespace rondo::plugin {

struct NetDevice {
  std::string name;      // as UCX names it: "mlx5_0:1", "eth0"
  std::string pci_path;  // folder below /sys; empty when it is no PCI device
  uint64_t guid = 0;     // of the adapter and port, or of the interface
  int speed_mbps = 0;
  int port = 1;
  bool rdma = false;
  SocketAddress address;  // for setting up connections
};

// `sys_root` is "/sys" but in tests. `wanted`: exact names, "mlx5_0" for all
// ports of an adapter; empty means all. `socket_ifname` (as in interface.h)
// chooses the interface over which connections of RDMA ports are set up.
Result<std::vector<NetDevice>> FindNetDevices(
    const std::string& sys_root, const std::vector<std::string>& wanted,
    const std::string& socket_ifname);

}  // namespace rondo::plugin
