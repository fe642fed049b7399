// CoordinatorLoop: what the coordinator's thread does.
//
// One poll() over the listener and every connection. A connection is first a
// stranger in the handshake, then a rank. Nothing here blocks except that poll.
//
// Thread-safety: Run is for one thread; RequestStop, stats and joined are for
// any. Ownership: owns the listener and all connections.
// Failure: a broken connection is closed and, if it was a rank's, reported to
// the others.
//
// Example: Coordinator::Service in coordinator.cc.
#pragma once

#include <poll.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "transports/base/clock.h"
#include "transports/base/status.h"
#include "transports/bootstrap/connection.h"
#include "transports/bootstrap/coordinator.h"
#include "transports/bootstrap/handshake.h"
#include "transports/bootstrap/membership.h"
#include "transports/bootstrap/service_thread.h"
#include "transports/bootstrap/unique_id.h"

namespace rondo {

class CoordinatorLoop {
 public:
  CoordinatorLoop(const UniqueId& id, const CoordinatorOptions& options,
                  const ProcessToken& process, FileDescriptor listener,
                  Waker waker);

  void Run();
  // Run ends once every rank has left, or the group failed, or at the deadline.
  void RequestStop(Deadline deadline);

  CoordinatorStats stats() const;
  int joined() const;

 private:
  enum class Phase { kHello, kProof, kRank, kClosed };
  struct Client {
    explicit Client(FileDescriptor socket) : connection(std::move(socket)) {}
    Connection connection;
    Phase phase = Phase::kHello;
    int64_t since_ns = NowNs();
    int64_t heard_ns = NowNs();
    Hello who;
    std::optional<HandshakeKeys> keys;

    bool pending() const {
      return phase == Phase::kHello || phase == Phase::kProof;
    }
  };
  using Counter = uint64_t CoordinatorStats::*;

  // One turn of the loop.
  void WaitForEvents(std::vector<pollfd>* polled);
  void AcceptClients();
  void ReadClient(Client* client);
  void SendOutgoing();
  void BeatHearts();
  void ExpireClients();
  void FlushClients();
  bool ShouldStop();
  void SayFarewell();

  // Strangers.
  bool MakeRoom();
  Status OnHello(Client* client, std::string_view payload);
  Status OnProof(Client* client, std::string_view payload);
  Status Admit(Client* client);
  void Drop(Client* client, Counter reason);

  // Ranks.
  Status OnFrame(Client* client, const FrameView& frame);
  Status OnRankFrame(Client* client, const FrameView& frame);
  void LoseRank(Client* client, const std::string& how);
  void LearnOwner(const Client& client);
  void Count(Counter counter);

  const UniqueId id_;
  const CoordinatorOptions options_;
  const ProcessToken process_;
  FileDescriptor listener_;
  Waker waker_;

  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Client*> by_rank_;  // null: not joined, or gone
  std::optional<Membership> membership_;
  int owner_rank_ = -1;
  int pending_ = 0;
  int64_t turn_ns_ = NowNs();
  int64_t beat_ns_ = NowNs();
  int64_t no_accept_until_ns_ = 0;

  mutable std::mutex mutex_;  // guards what other threads may touch
  CoordinatorStats stats_;
  std::optional<Deadline> stop_;
};

}  // namespace rondo
