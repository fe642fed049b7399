// Membership: what the coordinator knows of every rank, and what it decides.
//
// A state machine without sockets, threads or clock. Events go in (a rank
// joined, contributed to a call, reported an error, left, died); the messages
// that they cause come out. The TCP coordinator and the in-process group both
// run this one, so that they behave alike.
//
// Calls are numbered from 0 and complete when every rank has contributed. The
// group fails once: the first death or report decides, and everybody present is
// told. A rank that left in peace is no failure; only a call that needs it is.
//
// Thread-safety: one thread at a time.
//
// Example:
//   membership.Die(2, "its connection closed");
//   for (auto& out : membership.TakeOutgoing()) Deliver(out);
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transports/base/status.h"
#include "transports/bootstrap/control_message.h"
#include "transports/bootstrap/message.h"

namespace rondo {

class Membership {
 public:
  struct Outgoing {
    int rank = 0;
    MessageType type = MessageType::kHeartbeat;
    // Shared: one gathered message goes to every rank.
    std::shared_ptr<const std::string> payload;
  };

  explicit Membership(int world_size);

  int world_size() const { return static_cast<int>(ranks_.size()); }
  // Refuses a rank that has joined before, whatever became of it.
  Status Join(int rank);
  void Contribute(int rank, const ContributeMessage& part);
  void AskAbsent(int rank, uint64_t call);
  void Report(int rank, const Status& error);
  void Leave(int rank);
  // `how`: "its connection closed", "no heartbeat for 2000 ms".
  void Die(int rank, const std::string& how);

  // Ranks that have joined and have neither left nor died.
  std::vector<int> Present() const;
  // Why the group failed; ok while it has not.
  const Status& failure() const { return failure_; }

  std::vector<Outgoing> TakeOutgoing();

 private:
  enum class State : uint8_t { kAbsent, kPresent, kLeft, kDead };
  struct Rank {
    State state = State::kAbsent;
    std::optional<std::string> blob;  // its part of the current call
  };

  void Send(int rank, MessageType type, std::string payload);
  void SendToPresent(MessageType type, std::string payload, int except);
  void Fail(Status why, int except);
  void FinishCall();
  void FailCallIfSomeoneLeft();
  std::string DescribeAbsent() const;
  std::string CallName() const;

  std::vector<Rank> ranks_;
  uint64_t call_ = 0;
  CallKind kind_ = CallKind::kAllGather;
  int first_caller_ = -1;  // -1: nobody has contributed to this call yet
  int contributions_ = 0;
  Status failure_;
  std::vector<Outgoing> outgoing_;
};

}  // namespace rondo
