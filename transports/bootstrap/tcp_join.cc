#include "transports/bootstrap/tcp_join.h"

#include <algorithm>

#include "transports/bootstrap/control_message.h"
#include "transports/bootstrap/network.h"

namespace rondo {

namespace {

// One attempt; a route that swallows packets must not eat the whole deadline.
constexpr int kAttemptMs = 5000;
constexpr int kFirstPauseMs = 5;
constexpr int kLongestPauseMs = 250;

// One handshake on a fresh connection. `final` tells whether an error is the
// last word, or trying again may help.
class Handshake {
 public:
  Handshake(const UniqueId& id, int rank, int world_size, Deadline deadline)
      : id_(id), rank_(rank), world_size_(world_size), deadline_(deadline) {}

  Result<Introduction> Run(bool* final) {
    Result<Introduction> result = Steps();
    *final = final_;
    return result;
  }

 private:
  Result<Introduction> Steps() {
    RONDO_ASSIGN_OR_RETURN(FileDescriptor socket,
                           ConnectTo(id_.address(), deadline_));
    Connection connection(std::move(socket));
    RONDO_ASSIGN_OR_RETURN(HandshakeKeys keys, Exchange(&connection));
    RONDO_RETURN_IF_ERROR(ProveBoth(&connection, keys));
    RONDO_ASSIGN_OR_RETURN(Accepted accepted, Enter(&connection));
    return Introduction{std::move(connection), accepted};
  }

  // Hello and challenge.
  Result<HandshakeKeys> Exchange(Connection* connection) {
    Hello hello;
    hello.rank = rank_;
    hello.world_size = world_size_;
    RONDO_ASSIGN_OR_RETURN(hello.process, ThisProcessToken());
    RONDO_RETURN_IF_ERROR(FillRandom(hello.nonce.data(), hello.nonce.size()));
    const std::string sent = hello.Encode();
    connection->Queue(MessageType::kHello, sent);
    RONDO_ASSIGN_OR_RETURN(FrameView frame, AwaitFrame(connection, deadline_));
    if (frame.type != MessageType::kChallenge) return Stranger(frame.type);
    RONDO_ASSIGN_OR_RETURN(Challenge challenge,
                           Challenge::Decode(frame.payload));
    if (challenge.protocol_version != kProtocolVersion) {
      final_ = true;
      return Status(Code::kMismatch,
                    "the coordinator speaks protocol " +
                        std::to_string(challenge.protocol_version) +
                        " (Rondo " + FormatVersion(challenge.rondo_version) +
                        "), this rank speaks " +
                        std::to_string(kProtocolVersion) + " (Rondo " +
                        FormatVersion(kLibraryVersion) +
                        "): use the same version everywhere");
    }
    return DeriveKeys(id_.secret(), sent, frame.payload);
  }

  Status ProveBoth(Connection* connection, const HandshakeKeys& keys) {
    connection->Queue(MessageType::kProof,
                      std::string(AsBytes(keys.rank_proof)));
    RONDO_ASSIGN_OR_RETURN(FrameView frame, AwaitFrame(connection, deadline_));
    if (frame.type == MessageType::kWrongProof) {
      final_ = true;
      return InvalidUsage(
          "the coordinator there holds another secret: the unique id belongs "
          "to another job, or is out of date");
    }
    if (frame.type != MessageType::kWelcome) return Stranger(frame.type);
    if (!EqualInConstantTime(frame.payload, AsBytes(keys.coordinator_proof))) {
      return Status(Code::kTransport,
                    "whoever listens there did not prove the unique id's "
                    "secret");
    }
    RONDO_RETURN_IF_ERROR(connection->SecureSending(keys.rank_key));
    return connection->SecureReceiving(keys.coordinator_key);
  }

  Result<Accepted> Enter(Connection* connection) {
    RONDO_ASSIGN_OR_RETURN(FrameView frame, AwaitFrame(connection, deadline_));
    if (frame.type == MessageType::kRefused) {
      final_ = true;  // its tag was checked: this is the coordinator's word
      RONDO_ASSIGN_OR_RETURN(auto refusal, ErrorMessage::Decode(frame.payload));
      return refusal.error.WithContext("refused");
    }
    if (frame.type != MessageType::kAccepted) return Stranger(frame.type);
    return Accepted::Decode(frame.payload);
  }

  static Status Stranger(MessageType type) {
    return Status(Code::kTransport,
                  "whoever listens there sent a message of type " +
                      std::to_string(static_cast<int>(type)) + " out of order");
  }

  const UniqueId& id_;
  const int rank_;
  const int world_size_;
  const Deadline deadline_;
  bool final_ = false;
};

}  // namespace

Result<Introduction> Introduce(const UniqueId& id, int rank, int world_size,
                               bool retry, Deadline deadline) {
  const std::string who = "rank " + std::to_string(rank) +
                          " cannot join the coordinator at " +
                          id.address().ToString();
  int pause_ms = kFirstPauseMs;
  for (int attempt = 1;; ++attempt) {
    bool final = false;
    Handshake handshake(
        id, rank, world_size,
        Deadline::Earlier(deadline, Deadline::AfterMs(kAttemptMs)));
    Result<Introduction> joined = handshake.Run(&final);
    if (joined.ok()) return joined;
    if (final) return joined.status().WithContext(who);
    if (!retry) return joined.status().WithContext(who);
    if (deadline.expired()) {
      return Status(Code::kTimeout, who + " before its deadline; attempt " +
                                        std::to_string(attempt) + ": " +
                                        joined.status().message());
    }
    PauseMs(pause_ms, deadline);
    pause_ms = std::min(2 * pause_ms, kLongestPauseMs);
  }
}

}  // namespace rondo
