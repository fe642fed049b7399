// The parts of the in-process transport that its two source files share; not
// for others. One inbox per rank takes arrivals from any thread; everything
// behind it belongs to the rank's own thread. A message that refers to the
// sender's buffer changes hands by one atomic state: the receiver takes it or
// the sender withdraws it, never both, so a failed sender's buffer is never
// read again.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "transports/contract/arguments.h"
#include "transports/contract/transport.h"
#include "transports/inprocess/inprocess_transport.h"

namespace rondo {

// What a message is matched by.
struct MessageKey {
  int source;
  int lane;
  uint64_t tag;
  auto operator<=>(const MessageKey&) const = default;
};

struct InProcessNetwork::Message {
  enum State : int { kWaiting, kTaken, kConsumed, kWithdrawn };

  MessageKey key;
  const void* data = nullptr;  // the sender's buffer, or `copy`
  size_t bytes = 0;
  std::vector<char> copy;
  std::atomic<int> state{kWaiting};
};

struct InProcessNetwork::RankState {
  std::atomic<bool> taken{false};
  std::atomic<bool> left{false};          // the endpoint was destroyed
  std::atomic<bool> disconnected{false};  // it called Disconnect
  std::atomic<bool> has_arrivals{false};
  std::mutex mutex;
  std::vector<std::shared_ptr<Message>> arrivals;  // guarded by mutex
};

class InProcessTransport : public Transport {
 public:
  InProcessTransport(std::shared_ptr<InProcessNetwork> network, int rank);
  ~InProcessTransport() override;

  std::string Describe() const override;
  int lane_count() const override { return network_->lane_count(); }
  bool Supports(MemoryKind kind) const override;
  Result<std::string> Address() override;
  Status Connect(int rank, std::vector<std::string> addresses) override;
  void Send(int peer, int lane, uint64_t tag, ConstBuffer buffer,
            Transfer* transfer) override;
  void Receive(int peer, int lane, uint64_t tag, MutableBuffer buffer,
               Transfer* transfer) override;
  int Progress() override;
  void FailPeer(int peer, const Status& why) override;
  void FailAll(const Status& why) override;
  Status Disconnect(Deadline deadline) override;

 private:
  using Message = InProcessNetwork::Message;
  struct Outgoing {
    int peer;
    std::shared_ptr<Message> message;
    Transfer* transfer;
  };
  struct Posted {
    MutableBuffer buffer;
    Transfer* transfer;
  };

  // The reason why nothing may be posted with `peer`; ok if it may.
  Status Refusal(const char* verb, int peer, int lane, uint64_t tag,
                 const void* data, size_t bytes, MemoryKind kind) const;
  int TakeArrivals();
  int FinishSends();
  int FailThoseWhoLeft(const std::vector<int>& left);
  std::vector<int> PeersWhoLeft() const;
  // Gives `message` to `posted`; false if the sender withdrew it.
  bool Deliver(Message* message, const Posted& posted);
  // Ends all transfers with `peer`; returns how many.
  int EndTransfers(int peer, const Status& why);
  std::string Unfinished() const;

  const std::shared_ptr<InProcessNetwork> network_;
  const int rank_;
  GroupShape shape_;
  std::vector<Outgoing> outgoing_;
  std::map<MessageKey, std::deque<std::shared_ptr<Message>>> unexpected_;
  std::map<MessageKey, std::deque<Posted>> posted_;
  std::vector<Status> failures_;  // per peer; ok while it is well
  std::vector<bool> exchanged_;   // per peer: any transfer posted with it
};

}  // namespace rondo
