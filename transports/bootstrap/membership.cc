#include "transports/bootstrap/membership.h"

#include <utility>

#include "transports/bootstrap/rank_list.h"

namespace rondo {

namespace {

// Parts are packed into messages of about this size, so that heartbeats are
// never stuck for long behind one large message.
constexpr size_t kPackBytes = size_t{256} << 10;

}  // namespace

Membership::Membership(int world_size) : ranks_(world_size) {}

Status Membership::Join(int rank) {
  if (rank < 0 || rank >= world_size()) {
    return InvalidArgument("rank " + std::to_string(rank) + " is not in 0 to " +
                           std::to_string(world_size() - 1));
  }
  Rank& entry = ranks_[rank];
  if (entry.state != State::kAbsent) {
    const char* became = entry.state == State::kPresent ? ""
                         : entry.state == State::kLeft  ? " and left"
                                                        : " and died";
    return InvalidUsage("rank " + std::to_string(rank) + " has already joined" +
                        became +
                        ": two processes claim the same rank, or one came "
                        "back");
  }
  entry.state = State::kPresent;
  for (int other = 0; other < world_size(); ++other) {
    if (ranks_[other].state == State::kLeft) {
      Send(rank, MessageType::kLeft, EncodeRank(other));
    }
  }
  if (!failure_.ok()) {
    Send(rank, MessageType::kFailure, ErrorMessage{failure_}.Encode());
  }
  return Status::Ok();
}

void Membership::Contribute(int rank, const ContributeMessage& part) {
  Rank& entry = ranks_[rank];
  if (entry.state != State::kPresent || !failure_.ok()) return;
  if (part.call != call_ || entry.blob) {
    Die(rank, "it called number " + std::to_string(part.call) + " while " +
                  CallName() + " was open");
    return;
  }
  if (first_caller_ >= 0 && part.kind != kind_) {
    Fail(Status(Code::kMismatch,
                "rank " + std::to_string(rank) + " called a bootstrap " +
                    std::string(CallKindName(part.kind)) + " where rank " +
                    std::to_string(first_caller_) + " called " + CallName()),
         -1);
    return;
  }
  if (first_caller_ < 0) {
    first_caller_ = rank;
    kind_ = part.kind;
  }
  entry.blob.emplace(part.blob);
  if (++contributions_ == world_size()) {
    FinishCall();
  } else {
    FailCallIfSomeoneLeft();
  }
}

void Membership::AskAbsent(int rank, uint64_t call) {
  // A call that is over was answered already: its parts are on their way.
  if (ranks_[rank].state != State::kPresent || call != call_) return;
  const std::string text = DescribeAbsent();
  Send(rank, MessageType::kAbsent,
       CallMessage{call, Code::kTimeout, text}.Encode());
}

void Membership::Report(int rank, const Status& error) {
  if (ranks_[rank].state != State::kPresent || error.ok()) return;
  Fail(error.WithContext("rank " + std::to_string(rank) + " reported"), rank);
}

void Membership::Leave(int rank) {
  if (ranks_[rank].state != State::kPresent) return;
  ranks_[rank].state = State::kLeft;
  SendToPresent(MessageType::kLeft, EncodeRank(rank), rank);
  FailCallIfSomeoneLeft();
}

void Membership::Die(int rank, const std::string& how) {
  if (ranks_[rank].state != State::kPresent) return;
  const Status death(Code::kRemoteDead,
                     "rank " + std::to_string(rank) + " died: " + how);
  // It is told as well: a rank that was only stopped learns why it is alone.
  Fail(death, -1);
  ranks_[rank].state = State::kDead;
}

std::vector<int> Membership::Present() const {
  std::vector<int> out;
  for (int rank = 0; rank < world_size(); ++rank) {
    if (ranks_[rank].state == State::kPresent) out.push_back(rank);
  }
  return out;
}

std::vector<Membership::Outgoing> Membership::TakeOutgoing() {
  return std::exchange(outgoing_, {});
}

void Membership::Send(int rank, MessageType type, std::string payload) {
  outgoing_.push_back(
      {rank, type, std::make_shared<const std::string>(std::move(payload))});
}

void Membership::SendToPresent(MessageType type, std::string payload,
                               int except) {
  const auto shared = std::make_shared<const std::string>(std::move(payload));
  for (int rank : Present()) {
    if (rank != except) outgoing_.push_back({rank, type, shared});
  }
}

void Membership::Fail(Status why, int except) {
  if (!failure_.ok()) return;
  failure_ = std::move(why);
  SendToPresent(MessageType::kFailure, ErrorMessage{failure_}.Encode(), except);
}

void Membership::FinishCall() {
  GatheredMessage message{call_, 0, {}};
  size_t bytes = 0;
  for (int rank = 0; rank < world_size(); ++rank) {
    message.blobs.push_back(*ranks_[rank].blob);
    bytes += ranks_[rank].blob->size();
    if (bytes < kPackBytes && rank + 1 < world_size()) continue;
    SendToPresent(MessageType::kGathered, message.Encode(), -1);
    message = GatheredMessage{call_, rank + 1, {}};
    bytes = 0;
  }
  for (Rank& rank : ranks_) rank.blob.reset();
  ++call_;
  first_caller_ = -1;
  contributions_ = 0;
}

// A call that needs a rank which left can never complete: say so at once, to
// everyone who waits in it. They may not call again after that.
void Membership::FailCallIfSomeoneLeft() {
  if (first_caller_ < 0) return;
  std::vector<int> gone;
  for (int rank = 0; rank < world_size(); ++rank) {
    if (ranks_[rank].state == State::kLeft && !ranks_[rank].blob) {
      gone.push_back(rank);
    }
  }
  if (gone.empty()) return;
  const std::string text =
      CallName() + " cannot complete: " + FormatRanks(gone) + " left before it";
  const std::string payload =
      CallMessage{call_, Code::kRemoteDead, text}.Encode();
  for (int rank : Present()) {
    if (ranks_[rank].blob) Send(rank, MessageType::kCallFailed, payload);
  }
}

std::string Membership::DescribeAbsent() const {
  std::vector<int> never, idle, left, dead;
  for (int rank = 0; rank < world_size(); ++rank) {
    if (ranks_[rank].blob) continue;
    const State state = ranks_[rank].state;
    (state == State::kAbsent    ? never
     : state == State::kPresent ? idle
     : state == State::kLeft    ? left
                                : dead)
        .push_back(rank);
  }
  std::string out;
  const auto add = [&out](const std::vector<int>& ranks, const char* what) {
    if (ranks.empty()) return;
    if (!out.empty()) out += "; ";
    out += what + (": " + FormatRanks(ranks));
  };
  add(never, "have not joined");
  add(idle, "have joined but not called it");
  add(left, "have left");
  add(dead, "have died");
  return out;
}

std::string Membership::CallName() const {
  return std::string(CallKindName(kind_)) + " " + std::to_string(call_);
}

}  // namespace rondo
