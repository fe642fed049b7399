#include "transports/bootstrap/handshake.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "transports/bootstrap/wire.h"

namespace rondo {

namespace {

constexpr std::string_view kHelloMagic = "RONDO-HI";
constexpr std::string_view kChallengeMagic = "RONDO-CO";

Status Malformed(const char* what) {
  return Status(Code::kTransport,
                std::string("the ") + what + " message is malformed");
}

template <size_t kSize>
void Fill(std::array<uint8_t, kSize>* out, std::string_view bytes) {
  std::copy_n(bytes.begin(), std::min(bytes.size(), kSize), out->begin());
}

}  // namespace

std::string FormatVersion(uint32_t version) {
  return std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

Result<ProcessToken> ThisProcessToken() {
  static std::mutex mutex;
  static ProcessToken token;
  static pid_t owner = 0;
  const std::lock_guard<std::mutex> lock(mutex);
  if (owner != getpid()) {  // the first call, or the first after a fork
    RONDO_RETURN_IF_ERROR(FillRandom(token.data(), token.size()));
    owner = getpid();
  }
  return token;
}

std::string Hello::Encode() const {
  ByteWriter writer;
  writer.Raw(kHelloMagic);
  writer.U32(protocol_version);
  writer.U32(rondo_version);
  writer.U32(static_cast<uint32_t>(rank));
  writer.U32(static_cast<uint32_t>(world_size));
  writer.Raw(AsBytes(process));
  writer.Raw(AsBytes(nonce));
  return writer.Take();
}

Result<Hello> Hello::Decode(std::string_view payload) {
  ByteReader reader(payload);
  Hello hello;
  if (reader.Raw(kHelloMagic.size()) != kHelloMagic) return Malformed("hello");
  hello.protocol_version = reader.U32();
  hello.rondo_version = reader.U32();
  if (!reader.ok()) return Malformed("hello");
  if (hello.protocol_version != kProtocolVersion) return hello;
  const uint32_t rank = reader.U32();
  const uint32_t world_size = reader.U32();
  Fill(&hello.process, reader.Raw(hello.process.size()));
  Fill(&hello.nonce, reader.Raw(hello.nonce.size()));
  if (!reader.complete()) return Malformed("hello");
  if (world_size < 1 || world_size > uint32_t{kMaxWorldSize} ||
      rank >= world_size) {
    return InvalidArgument("rank " + std::to_string(rank) + " of " +
                           std::to_string(world_size) +
                           " is out of range; at most " +
                           std::to_string(kMaxWorldSize) + " ranks can join");
  }
  hello.rank = static_cast<int>(rank);
  hello.world_size = static_cast<int>(world_size);
  return hello;
}

std::string Challenge::Encode() const {
  ByteWriter writer;
  writer.Raw(kChallengeMagic);
  writer.U32(protocol_version);
  writer.U32(rondo_version);
  writer.Raw(AsBytes(nonce));
  return writer.Take();
}

Result<Challenge> Challenge::Decode(std::string_view payload) {
  ByteReader reader(payload);
  Challenge challenge;
  if (reader.Raw(kChallengeMagic.size()) != kChallengeMagic) {
    return Malformed("challenge");
  }
  challenge.protocol_version = reader.U32();
  challenge.rondo_version = reader.U32();
  if (!reader.ok()) return Malformed("challenge");
  if (challenge.protocol_version != kProtocolVersion) return challenge;
  Fill(&challenge.nonce, reader.Raw(challenge.nonce.size()));
  if (!reader.complete()) return Malformed("challenge");
  return challenge;
}

std::string Accepted::Encode() const {
  ByteWriter writer;
  writer.U32(static_cast<uint32_t>(owner_rank));
  writer.U32(static_cast<uint32_t>(heartbeat_ms));
  writer.U32(static_cast<uint32_t>(peer_timeout_ms));
  return writer.Take();
}

Result<Accepted> Accepted::Decode(std::string_view payload) {
  ByteReader reader(payload);
  Accepted accepted;
  accepted.owner_rank = static_cast<int>(reader.U32());
  accepted.heartbeat_ms = static_cast<int>(reader.U32());
  accepted.peer_timeout_ms = static_cast<int>(reader.U32());
  if (!reader.complete() || accepted.heartbeat_ms < 1 ||
      accepted.peer_timeout_ms < accepted.heartbeat_ms) {
    return Malformed("accepted");
  }
  return accepted;
}

Result<HandshakeKeys> DeriveKeys(const UniqueId::Secret& secret,
                                 std::string_view hello,
                                 std::string_view challenge) {
  RONDO_ASSIGN_OR_RETURN(HmacKey root, HmacKey::Create(AsBytes(secret)));
  // Hello and challenge have fixed sizes, and each purpose its own prefix, so
  // no two different inputs give the same signed text.
  HandshakeKeys keys;
  RONDO_ASSIGN_OR_RETURN(keys.rank_proof,
                         root.Sign({"rondo proof, rank", hello, challenge}));
  RONDO_ASSIGN_OR_RETURN(
      keys.coordinator_proof,
      root.Sign({"rondo proof, coordinator", hello, challenge}));
  RONDO_ASSIGN_OR_RETURN(keys.rank_key,
                         root.Sign({"rondo key, rank", hello, challenge}));
  RONDO_ASSIGN_OR_RETURN(
      keys.coordinator_key,
      root.Sign({"rondo key, coordinator", hello, challenge}));
  return keys;
}

}  // namespace rondo
