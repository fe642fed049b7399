// A fault plan: what to do to a transport, as RONDO_FAULT says it.
//
// Grammar: faults separated by commas, each `kind:SEED[:ARGUMENT]`.
//
//   corrupt:SEED[:RATE]    one bit of a received message is flipped
//   delay:SEED[:MAX_US]    messages are held for up to MAX_US microseconds
//   drop:SEED[:RATE]       messages are never sent, though the sender is told
//   so reorder:SEED[:MAX_US]  as delay, and messages overtake others of a
//   different
//                          lane or tag
//   die:RANK[:MESSAGES]    rank RANK (modulo the world size) dies after that
//   many
//                          messages
//
// SEED is a number: equal seeds do equal things. RATE is the share of messages
// that are hit, above 0 and at most 1 (default 0.25): of each 1/RATE messages
// in a row one is hit, so a short run is hit as well. MAX_US defaults to 500,
// MESSAGES to 20.
//
// Thread-safety: values. Failure: kInvalidArgument with the bad token and what
// is accepted.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(FaultPlan plan,
//   ParseFaultPlan("corrupt:1,delay:7:200"));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transports/base/status.h"

namespace rondo {

// Some of the messages.
struct MessageFault {
  uint64_t seed = 0;
  double rate = 0.25;
};

// A time for which messages are held.
struct HoldFault {
  uint64_t seed = 0;
  int64_t max_us = 500;
};

struct DeathFault {
  uint64_t rank = 0;
  int64_t messages = 20;
};

struct FaultPlan {
  std::optional<MessageFault> corrupt;
  std::optional<MessageFault> drop;
  std::optional<HoldFault> delay;
  std::optional<HoldFault> reorder;
  std::optional<DeathFault> die;

  bool empty() const { return !corrupt && !drop && !delay && !reorder && !die; }
};

// Empty text is an empty plan.
Result<FaultPlan> ParseFaultPlan(std::string_view text);

}  // namespace rondo
