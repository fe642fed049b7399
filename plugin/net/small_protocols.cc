#include "plugin/net/small_protocols.h"

#include <strings.h>

#include <algorithm>
#include <string_view>

namespace rondo::plugin {

const std::vector<StoreGuarantee>& StoreGuarantees() {
  static const auto* const table = new std::vector<StoreGuarantee>{
      {"rc_mlx5", true, true,
       "one reliable queue; the adapter writes a packet in order"},
      {"dc_mlx5", true, true,
       "one reliable queue; the adapter writes a packet in order"},
      {"rc_verbs", true, false,
       "one reliable queue, but adapters of any maker"},
      {"ud_mlx5", false, false, "the CPU copies out of receive buffers"},
      {"ud_verbs", false, false, "the CPU copies out of receive buffers"},
      {"tcp", false, false, "the CPU copies out of a socket, byte by byte"},
      {"posix", false, false, "the CPU copies out of shared memory"},
      {"sysv", false, false, "the CPU copies out of shared memory"},
      {"cma", false, false, "the kernel copies pages, in no stated order"},
      {"self", false, false, "the CPU copies"},
  };
  return *table;
}

std::string SmallProtocolAdvice(const std::string& transports,
                                const std::string& protocols) {
  if (strcasecmp(protocols.c_str(), "simple") == 0) return "";
  for (const StoreGuarantee& row : StoreGuarantees()) {
    if (row.whole_8_bytes && row.whole_128_bytes) continue;
    std::string_view rest = transports;
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
      if (name != row.transport) continue;
      return "set NCCL_PROTO=Simple: over " + std::string(name) +
             " small stores need not arrive whole and in order (" + row.reason +
             "), which LL and LL128 rely on";
    }
  }
  return "";
}

}  // namespace rondo::plugin
