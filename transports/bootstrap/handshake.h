// The handshake by which a rank and the coordinator prove to each other that
// they hold the same secret, without showing it.
//
//   rank                         coordinator
//     Hello (who, nonce)  ------>
//                         <------  Challenge (nonce)
//     Proof               ------>                    HMAC over both messages
//                         <------  Welcome           the coordinator's own
//                         <======  Accepted or Refused, tagged from here on
//
// Both nonces are fresh, so proofs cannot be replayed, and each connection gets
// its own key per direction. The rank proves itself first: a stranger who
// connects learns a random number and nothing else.
//
// Thread-safety: pure functions. Failure: a message of the wrong shape or
// protocol version is refused, both versions named.
//
// Example: ServeHandshake in coordinator.cc and Introduce in tcp_join.cc.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "transports/base/status.h"
#include "transports/base/version.h"
#include "transports/bootstrap/crypto.h"
#include "transports/bootstrap/unique_id.h"

namespace rondo {

constexpr uint32_t kProtocolVersion = 1;
// All ranks must run the same one.
constexpr uint32_t kLibraryVersion = kVersionCode;
// "0.1.0".
std::string FormatVersion(uint32_t version);

constexpr int kMaxWorldSize = 1 << 20;

using Nonce = std::array<uint8_t, 32>;
// Random per process; tells whether a rank and the coordinator share one.
using ProcessToken = std::array<uint8_t, 16>;
Result<ProcessToken> ThisProcessToken();

struct Hello {
  uint32_t protocol_version = kProtocolVersion;
  uint32_t rondo_version = kLibraryVersion;
  int rank = 0;
  int world_size = 0;
  ProcessToken process{};
  Nonce nonce{};

  std::string Encode() const;
  // Other protocol versions are parsed no further than their number.
  static Result<Hello> Decode(std::string_view payload);
};

struct Challenge {
  uint32_t protocol_version = kProtocolVersion;
  uint32_t rondo_version = kLibraryVersion;
  Nonce nonce{};

  std::string Encode() const;
  static Result<Challenge> Decode(std::string_view payload);
};

// What the coordinator tells a rank that it accepts.
struct Accepted {
  int owner_rank = -1;  // the rank whose process the coordinator lives in
  int heartbeat_ms = 0;
  int peer_timeout_ms = 0;

  std::string Encode() const;
  static Result<Accepted> Decode(std::string_view payload);
};

// The proofs and keys that follow from the secret and both messages.
struct HandshakeKeys {
  Digest rank_proof;
  Digest coordinator_proof;
  Digest rank_key;         // tags what the rank sends
  Digest coordinator_key;  // tags what the coordinator sends
};
Result<HandshakeKeys> DeriveKeys(const UniqueId::Secret& secret,
                                 std::string_view hello,
                                 std::string_view challenge);

}  // namespace rondo
