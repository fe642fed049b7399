// RankEndpoint: one rank's half of the control channel, without the channel.
//
// It turns AllGather, Barrier and Report into messages to the coordinator and
// the coordinator's messages back into results and failures. A subclass moves
// the messages: over TCP, or by a function call inside one process.
//
// Thread-safety: as Bootstrap; OnMessage and Fail may be called by any thread.
// Send() is never called while the endpoint's own lock is held.
// Failure: a malformed message is returned as an error and changes nothing.
//
// Example: TcpBootstrap in tcp_bootstrap.cc.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "transports/base/clock.h"
#include "transports/base/status.h"
#include "transports/bootstrap/bootstrap.h"
#include "transports/bootstrap/control_message.h"
#include "transports/bootstrap/message.h"

namespace rondo {

class RankEndpoint : public Bootstrap {
 public:
  int rank() const override { return rank_; }
  int world_size() const override { return world_size_; }
  Result<std::vector<std::string>> AllGather(std::string_view mine,
                                             Deadline deadline) override;
  Status Barrier(Deadline deadline) override;
  void Report(const Status& error) override;
  Status failure() const override;
  bool HasLeft(int rank) const override;

 protected:
  RankEndpoint(int rank, int world_size);

  // To the coordinator; never blocks, and may drop when the channel is gone.
  virtual void Send(MessageType type, std::string payload) = 0;

  // A message of the coordinator. Types that belong to the channel itself
  // (heartbeat, owner) are for the subclass.
  Status OnMessage(MessageType type, std::string_view payload);
  // The first failure stays.
  void Fail(const Status& why);
  // No further call can complete, yet nothing failed.
  void Close(const Status& why);

 private:
  Result<std::vector<std::string>> Call(CallKind kind, std::string_view mine,
                                        Deadline deadline);
  Status BeginCall(CallKind kind);
  Result<std::vector<std::string>> EndCall();
  // Whether the call is over: complete, refused, or the group failed.
  bool CallOver() const;
  bool WaitForCall(std::unique_lock<std::mutex>* lock, Deadline deadline);
  Status TimedOut(CallKind kind);
  Status OnGathered(std::string_view payload);
  Status OnLeft(std::string_view payload);
  Status OnCallMessage(MessageType type, std::string_view payload);

  const int rank_;
  const int world_size_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Status failure_;          // why failed_ is set
  Status closed_;           // not ok: no more calls
  uint64_t next_call_ = 0;  // number of the call that is open or next
  bool in_call_ = false;
  std::vector<std::string> parts_;  // of the open call, from rank 0 up
  Status call_error_;
  std::string absent_;      // the coordinator's answer
  std::vector<bool> left_;  // by rank
};

}  // namespace rondo
