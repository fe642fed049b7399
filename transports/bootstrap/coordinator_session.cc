// How one connection becomes a rank, and what the coordinator does with its
// messages: the other half of CoordinatorLoop.

#include "transports/bootstrap/coordinator_loop.h"

namespace rondo {

namespace {

Status Unexpected(MessageType type, const char* where) {
  return Status(Code::kTransport, "a message of type " +
                                      std::to_string(static_cast<int>(type)) +
                                      " does not belong into " + where);
}

}  // namespace

Status CoordinatorLoop::OnFrame(Client* client, const FrameView& frame) {
  switch (client->phase) {
    case Phase::kHello:
      if (frame.type != MessageType::kHello) break;
      return OnHello(client, frame.payload);
    case Phase::kProof:
      if (frame.type != MessageType::kProof) break;
      return OnProof(client, frame.payload);
    case Phase::kRank:
      return OnRankFrame(client, frame);
    case Phase::kClosed:
      return Status::Ok();
  }
  return Unexpected(frame.type, "the handshake");
}

Status CoordinatorLoop::OnHello(Client* client, std::string_view payload) {
  RONDO_ASSIGN_OR_RETURN(client->who, Hello::Decode(payload));
  Challenge challenge;
  RONDO_RETURN_IF_ERROR(
      FillRandom(challenge.nonce.data(), challenge.nonce.size()));
  const std::string encoded = challenge.Encode();
  client->connection.Queue(MessageType::kChallenge, encoded);
  if (client->who.protocol_version != kProtocolVersion) {
    // The challenge shows our version; the rank explains the difference.
    Drop(client, &CoordinatorStats::refused);
    return client->connection.Flush();
  }
  RONDO_ASSIGN_OR_RETURN(client->keys,
                         DeriveKeys(id_.secret(), payload, encoded));
  client->phase = Phase::kProof;
  return client->connection.Flush();
}

Status CoordinatorLoop::OnProof(Client* client, std::string_view payload) {
  if (!EqualInConstantTime(payload, AsBytes(client->keys->rank_proof))) {
    Drop(client, &CoordinatorStats::wrong_secret);
    client->connection.Queue(MessageType::kWrongProof, "");
    return client->connection.Flush();
  }
  Connection& connection = client->connection;
  connection.Queue(MessageType::kWelcome,
                   std::string(AsBytes(client->keys->coordinator_proof)));
  RONDO_RETURN_IF_ERROR(
      connection.SecureSending(client->keys->coordinator_key));
  RONDO_RETURN_IF_ERROR(connection.SecureReceiving(client->keys->rank_key));
  const Status admitted = Admit(client);
  if (!admitted.ok()) {
    connection.Queue(MessageType::kRefused, ErrorMessage{admitted}.Encode());
    Drop(client, &CoordinatorStats::refused);
    return connection.Flush();
  }
  --pending_;
  client->phase = Phase::kRank;
  client->heard_ns = NowNs();
  by_rank_[client->who.rank] = client;
  LearnOwner(*client);
  connection.Queue(
      MessageType::kAccepted,
      Accepted{owner_rank_, options_.heartbeat_ms, options_.peer_timeout_ms}
          .Encode());
  Count(&CoordinatorStats::accepted);
  // A failure that came before this rank goes out after its acceptance.
  SendOutgoing();
  return Status::Ok();
}

// Whether a rank that has proved itself may join. The secret is proved, so the
// first rank's world size can be believed.
Status CoordinatorLoop::Admit(Client* client) {
  const Hello& who = client->who;
  const std::string name = "rank " + std::to_string(who.rank);
  if (who.rondo_version != kLibraryVersion) {
    return Status(Code::kMismatch, name + " runs Rondo " +
                                       FormatVersion(who.rondo_version) +
                                       ", the coordinator runs " +
                                       FormatVersion(kLibraryVersion) +
                                       ": use the same version everywhere");
  }
  const int expected = membership_               ? membership_->world_size()
                       : options_.world_size > 0 ? options_.world_size
                                                 : who.world_size;
  if (who.world_size != expected) {
    return Status(Code::kMismatch,
                  name + " says there are " + std::to_string(who.world_size) +
                      " ranks, the coordinator at " + id_.address().ToString() +
                      " expects " + std::to_string(expected));
  }
  if (!membership_) {
    membership_.emplace(expected);
    by_rank_.assign(expected, nullptr);
  }
  return membership_->Join(who.rank);
}

// The rank that shares this process dies with the coordinator, and everybody
// must be able to say so.
void CoordinatorLoop::LearnOwner(const Client& client) {
  if (owner_rank_ >= 0 || client.who.process != process_) return;
  owner_rank_ = client.who.rank;
  for (Client* other : by_rank_) {
    if (other == nullptr || other == &client) continue;
    other->connection.Queue(MessageType::kOwner, EncodeRank(owner_rank_));
  }
}

Status CoordinatorLoop::OnRankFrame(Client* client, const FrameView& frame) {
  const int rank = client->who.rank;
  switch (frame.type) {
    case MessageType::kHeartbeat:
      return Status::Ok();
    case MessageType::kContribute: {
      RONDO_ASSIGN_OR_RETURN(auto part,
                             ContributeMessage::Decode(frame.payload));
      membership_->Contribute(rank, part);
      return Status::Ok();
    }
    case MessageType::kAskAbsent: {
      RONDO_ASSIGN_OR_RETURN(auto question, CallMessage::Decode(frame.payload));
      membership_->AskAbsent(rank, question.call);
      return Status::Ok();
    }
    case MessageType::kReport: {
      RONDO_ASSIGN_OR_RETURN(auto report, ErrorMessage::Decode(frame.payload));
      membership_->Report(rank, report.error);
      return Status::Ok();
    }
    case MessageType::kGoodbye:
      membership_->Leave(rank);
      by_rank_[rank] = nullptr;
      client->phase = Phase::kClosed;
      return Status::Ok();
    default:
      return Unexpected(frame.type, "a rank's messages");
  }
}

}  // namespace rondo
