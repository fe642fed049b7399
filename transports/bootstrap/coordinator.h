// Coordinator: the meeting point of the ranks of one communicator.
//
// Whoever creates the unique id starts one, normally rank 0's process. A thread
// listens on one address, lets in ranks that prove the secret, and then serves
// all-gathers and barriers, relays the first error, and watches everybody: a
// rank whose connection breaks is dead at once, a rank without a heartbeat for
// peer_timeout_ms is dead too, a rank that says goodbye left in peace.
//
// Strangers cost little: each connection has handshake_timeout_ms to prove
// itself, few may be pending, and whoever sends garbage, stays silent or knows
// another secret is dropped and counted. Real ranks do not notice.
//
// Thread-safety: all methods, from any thread.
// Ownership: owns its thread and sockets. Destruction stops it, after a bounded
// wait for the ranks that have not left yet, so that the orderly end of this
// process is no death in their eyes.
// Failure: Start names the address; later errors reach the ranks as failure().
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto coordinator, Coordinator::Start({}));
//   Publish(coordinator->unique_id());
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "transports/base/status.h"
#include "transports/bootstrap/unique_id.h"

namespace rondo {

struct CoordinatorOptions {
  // 0: as many as the first rank says; the others must agree.
  int world_size = 0;
  // Which interface to listen on; see interface.h. Not for StartAt.
  std::string socket_ifname;
  uint16_t port = 0;  // 0: any free one. Not for StartAt.
  // The ranks are told both when they join, so that they cannot disagree.
  int heartbeat_ms = 100;
  int peer_timeout_ms = 2000;
  int handshake_timeout_ms = 2000;
  // How long destruction waits for ranks that have not left.
  int linger_ms = 2000;
};

// Connections that did not become ranks, by reason.
struct CoordinatorStats {
  uint64_t accepted = 0;      // joined
  uint64_t garbage = 0;       // not the protocol
  uint64_t wrong_secret = 0;  // the proof was wrong
  uint64_t slow = 0;          // did not prove itself in time
  uint64_t crowded_out = 0;   // dropped to make room for others
  uint64_t gave_up = 0;       // closed before proving itself
  uint64_t refused = 0;       // proved itself, but may not join
};

class Coordinator {
 public:
  // On the chosen interface, with a new random secret.
  static Result<std::unique_ptr<Coordinator>> Start(
      const CoordinatorOptions& options);
  // At the address and with the secret of `id`, see FixedUniqueId.
  static Result<std::unique_ptr<Coordinator>> StartAt(
      const UniqueId& id, const CoordinatorOptions& options);

  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  const UniqueId& unique_id() const;
  CoordinatorStats stats() const;
  // Ranks that have joined so far, also those that have left or died since.
  int joined() const;

 private:
  class Service;
  explicit Coordinator(std::unique_ptr<Service> service);
  std::unique_ptr<Service> service_;
};

}  // namespace rondo
