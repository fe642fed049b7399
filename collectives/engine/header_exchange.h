// HeaderExchange: how the ranks of one call make sure that they mean the same.
//
// The header goes into the host's control segment, where every local rank reads
// it, and to every rank of another host that this rank sends to, as the first
// message on each lane. Payload receives are posted only after Matched(): until
// then a peer's data stays in the transport's staging, and data of a call that
// does not match is never applied.
//
// Thread-safety: one thread at a time. Ownership: its transfers must be done
// (Idle(), or Transport::FailAll) before it is destroyed. Failure: kMismatch
// naming who differs in what; transfer errors as the transport gives them.
//
// Example:
//   exchange.Start();
//   RONDO_ASSIGN_OR_RETURN(bool matched, exchange.Matched());
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collectives/engine/call_context.h"
#include "collectives/engine/call_header.h"
#include "transports/base/clock.h"

namespace rondo {

class HeaderExchange {
 public:
  explicit HeaderExchange(CallContext* context) : context_(context) {}

  // For the next call, whose header must stay where it is. `send_to` and
  // `receive_from`: ranks of other hosts, ascending.
  void Reset(const CallHeader* header, int lanes, std::span<const int> send_to,
             std::span<const int> receive_from);
  void Start();
  // True once every header that this rank needs is here and agrees.
  Result<bool> Matched();
  // Spins until every rank of this host has posted, or some pauses have passed.
  // False then, and at once when other hosts take part.
  bool SpinForArrival(int pauses) const;
  // Whether every header that was sent has left.
  Result<bool> Idle() const;
  // Ranks whose header has not arrived.
  std::vector<int> Missing() const;

 private:
  struct Message {
    int peer = 0;
    int lane = 0;
    CallHeader header;
    Transfer transfer;
  };
  // What has arrived so far, by rank.
  std::vector<std::pair<int, CallHeader>> Arrived() const;
  void AddMessages(std::span<const int> peers, std::deque<Message>* messages);

  CallContext* context_;
  const CallHeader* header_ = nullptr;
  int lanes_ = 1;
  std::deque<Message> sends_;
  std::deque<Message> receives_;
  bool matched_ = false;
  // Once a header disagrees: how long the others may take to arrive, so that
  // the report blames the minority.
  std::optional<Deadline> disagreement_until_;
};

}  // namespace rondo
