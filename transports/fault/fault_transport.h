// A transport that misbehaves on purpose: it wraps any other one and delays,
// reorders, drops and corrupts messages, or dies, as a fault plan says.
//
// Delay and reorder stay within the contract of
// transports/contract/transport.h, so whatever is built on a transport must
// work over them. Drop leaves a receive waiting for ever: deadlines must catch
// it. Corrupt gives wrong bytes and success: checks of the data must catch it.
// Equal plans hit equal messages of a rank, as long as it posts them in the
// same order.
//
// Thread-safety, ownership: as the wrapped transport, which the wrapper owns.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(FaultPlan plan, ParseFaultPlan(text));
//   if (!plan.empty()) transport = WrapWithFaults(std::move(transport), plan);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "transports/contract/transport.h"
#include "transports/fault/fault_plan.h"

namespace rondo {

struct FaultOptions {
  // How a rank dies: its process is killed, or, for ranks that are threads of
  // one process, every operation fails from then on and its peers hear nothing
  // more.
  enum class Death { kKillProcess, kFailOperations };
  Death death = Death::kKillProcess;
  // Which messages carry data, so that only they are corrupted; empty: all of
  // at least one byte.
  std::function<bool(uint64_t tag, size_t bytes)> is_payload;
};

std::unique_ptr<Transport> WrapWithFaults(std::unique_ptr<Transport> transport,
                                          FaultPlan plan,
                                          FaultOptions options = {});

}  // namespace rondo
