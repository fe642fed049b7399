// The frames that the bootstrap speaks, and the codec for them: pure functions
// over bytes, without sockets.
//
// A frame is u32 payload length, u16 type, u16 zero, u64 sequence, payload; all
// little-endian. Once a connection has keys, a 16-byte tag follows: HMAC-SHA256
// over header and payload. Sequence counts the frames of one direction from 0,
// so a frame that is replayed, dropped, reordered or spliced in is refused.
//
// Thread-safety: one thread per FrameSealer or FrameOpener.
// Failure: an error means that the connection is to be closed.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(std::string bytes,
//                          sealer.Seal(MessageType::kGoodbye, ""));
//   RONDO_ASSIGN_OR_RETURN(auto frame, opener.Open(received));
//   if (!frame) return;                       // more bytes are needed
//   received.erase(0, frame->frame_bytes);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transports/base/status.h"
#include "transports/bootstrap/crypto.h"

namespace rondo {

enum class MessageType : uint16_t {
  // Handshake.
  kHello = 1,       // rank -> coordinator
  kChallenge = 2,   // coordinator -> rank
  kProof = 3,       // rank -> coordinator
  kWrongProof = 4,  // coordinator -> rank: the secrets differ
  kWelcome = 5,     // coordinator -> rank: its own proof; tags from here on
  kAccepted = 6,    // coordinator -> rank
  kRefused = 7,     // coordinator -> rank: why this rank cannot join
  // Afterwards.
  kHeartbeat = 8,    // both ways
  kContribute = 9,   // rank -> coordinator: its part of a call
  kAskAbsent = 10,   // rank -> coordinator: who is missing in this call?
  kReport = 11,      // rank -> coordinator: an error
  kGoodbye = 12,     // rank -> coordinator: leaves in peace
  kGathered = 13,    // coordinator -> rank: some ranks' parts of a call
  kCallFailed = 14,  // coordinator -> rank: this call cannot complete
  kAbsent = 15,      // coordinator -> rank: answer to kAskAbsent
  kFailure = 16,     // coordinator -> rank: the whole group has failed
  kOwner = 17,       // coordinator -> rank: whose process it lives in
  kClosing = 18,     // coordinator -> rank: it ends in an orderly way
  kLeft = 19,        // coordinator -> rank: another rank left in peace
};
constexpr uint16_t kMaxMessageType = 19;

constexpr size_t kFrameHeaderBytes = 16;
constexpr size_t kFrameTagBytes = 16;
// Strangers may send only what the handshake needs.
constexpr size_t kMaxOpenPayloadBytes = size_t{4} << 10;
constexpr size_t kMaxSealedPayloadBytes = (size_t{16} << 20) + (64 << 10);

// One frame inside somebody else's bytes.
struct FrameView {
  MessageType type = MessageType::kHello;
  uint64_t sequence = 0;
  std::string_view payload;
  std::string_view tag;    // empty without keys
  size_t frame_bytes = 0;  // header, payload and tag
};

// The first frame of `bytes`; nullopt when more bytes are needed. Checks form
// and limits only. Total: any input gives a frame, nullopt or an error.
Result<std::optional<FrameView>> ParseFrame(std::string_view bytes,
                                            bool sealed);

// One direction's sending end.
class FrameSealer {
 public:
  // Tags every later frame.
  Status Secure(const Digest& key);
  Result<std::string> Seal(MessageType type, std::string_view payload);

 private:
  std::optional<HmacKey> key_;
  uint64_t next_sequence_ = 0;
};

// One direction's receiving end.
class FrameOpener {
 public:
  // Demands a tag of every later frame.
  Status Secure(const Digest& key);
  bool secured() const { return key_.has_value(); }
  // The next frame, its tag and sequence proved; nullopt: more bytes needed.
  Result<std::optional<FrameView>> Open(std::string_view bytes);

 private:
  std::optional<HmacKey> key_;
  uint64_t next_sequence_ = 0;
};

}  // namespace rondo
