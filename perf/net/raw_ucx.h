// RawUcx: the same transfer without a plugin, by UCX's own ucx_perftest.
//
// Server and client are two processes on this host, both confined to one
// transport and one device by UCX_TLS and UCX_NET_DEVICES. Neither is pinned to
// a core, as the plugin's processes are not.
//
// Thread-safety: one thread. Ownership: no process outlives a call. Failure:
// what ucx_perftest printed; every run has a deadline.
//
// Example:
//   RawUcx raw(environment, "tcp", "lo");
//   if (raw.missing().empty()) {
//     RONDO_ASSIGN_OR_RETURN(auto figures, raw.Bandwidth(1024, 10000));
//   }
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "perf/net/perftest_output.h"
#include "transports/base/environment.h"
#include "transports/base/status.h"

namespace rondo::perf {

class RawUcx {
 public:
  RawUcx(const EnvironmentReader& environment, const std::string& transports,
         const std::string& device);

  // Why nothing can be run; empty when it can.
  const std::string& missing() const { return missing_; }
  const std::string& program() const { return program_; }

  // As many sends outstanding as kWindow (net_flow.h).
  Result<PerftestFigures> Bandwidth(int64_t bytes, int64_t messages) const;
  Result<PerftestFigures> Latency(int64_t bytes, int64_t round_trips) const;

 private:
  Result<PerftestFigures> Run(const std::string& test, int64_t bytes,
                              int64_t iterations) const;
  Result<PerftestFigures> RunOnPort(const std::string& test, int64_t bytes,
                                    int64_t iterations, int port) const;

  std::map<std::string, std::string> environment_;
  std::string program_;
  std::string missing_;
};

}  // namespace rondo::perf
