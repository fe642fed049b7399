// What UCX offers on this machine: its transports and devices.
//
// Thread-safety: call from one thread. Ownership: nothing stays open. Failure:
// parts that UCX cannot open (no rights, no hardware) are left out, as UCX
// itself would leave them out.
//
// Example:
//   for (const UcxResource& resource : UcxResources()) ...
#pragma once

#include <string>
#include <vector>

namespace rondo {

struct UcxResource {
  std::string transport;    // "tcp", "posix", "rc_mlx5"
  std::string device;       // "eth0", "memory", "mlx5_0:1"
  std::string device_kind;  // "network", "shared memory", "accelerator", "self"
};

// In UCX's order, without duplicates.
std::vector<UcxResource> UcxResources();

}  // namespace rondo
