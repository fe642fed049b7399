#include "transports/bootstrap/rank_endpoint.h"

#include <chrono>
#include <utility>

namespace rondo {

namespace {

// How long a call that has timed out waits for the coordinator to say who is
// missing. Long enough for a busy machine, short beside any sensible deadline.
constexpr int kAskAbsentMs = 500;

}  // namespace

RankEndpoint::RankEndpoint(int rank, int world_size)
    : rank_(rank), world_size_(world_size), left_(world_size, false) {}

Result<std::vector<std::string>> RankEndpoint::AllGather(std::string_view mine,
                                                         Deadline deadline) {
  return Call(CallKind::kAllGather, mine, deadline);
}

Status RankEndpoint::Barrier(Deadline deadline) {
  return Call(CallKind::kBarrier, "", deadline).status();
}

void RankEndpoint::Report(const Status& error) {
  if (error.ok()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok()) return;
    failure_ = error;
    failed_.store(true, std::memory_order_release);
  }
  changed_.notify_all();
  Send(MessageType::kReport, ErrorMessage{error}.Encode());
}

Status RankEndpoint::failure() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

bool RankEndpoint::HasLeft(int rank) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return left_[rank];
}

void RankEndpoint::Fail(const Status& why) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok()) return;
    failure_ = why;
    failed_.store(true, std::memory_order_release);
  }
  changed_.notify_all();
}

void RankEndpoint::Close(const Status& why) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (closed_.ok()) closed_ = why;
  }
  changed_.notify_all();
}

Status RankEndpoint::BeginCall(CallKind kind) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (in_call_) {
    return InvalidUsage("rank " + std::to_string(rank_) + " called a second " +
                        std::string(CallKindName(kind)) +
                        " while one is running in another thread");
  }
  if (!failure_.ok()) return failure_;
  if (!closed_.ok()) return closed_;
  in_call_ = true;
  parts_.clear();
  call_error_ = Status::Ok();
  absent_.clear();
  return Status::Ok();
}

bool RankEndpoint::CallOver() const {
  return parts_.size() == static_cast<size_t>(world_size_) || !failure_.ok() ||
         !closed_.ok() || !call_error_.ok();
}

// Whether the call was over before the deadline.
bool RankEndpoint::WaitForCall(std::unique_lock<std::mutex>* lock,
                               Deadline deadline) {
  while (!CallOver()) {
    if (deadline.expired()) return false;
    changed_.wait_for(*lock,
                      std::chrono::milliseconds(deadline.remaining_ms()));
  }
  return true;
}

// With the lock held, after CallOver().
Result<std::vector<std::string>> RankEndpoint::EndCall() {
  in_call_ = false;
  // Complete counts first: what arrived is good even if a rank died just after.
  if (parts_.size() == static_cast<size_t>(world_size_)) {
    ++next_call_;
    return std::exchange(parts_, {});
  }
  const Status error = !failure_.ok()  ? failure_
                       : !closed_.ok() ? closed_
                                       : call_error_;
  // This rank's part is spent, so its calls no longer match the others'.
  if (closed_.ok()) {
    closed_ =
        Status(Code::kInvalidUsage,
               "no more bootstrap calls after one failed: " + error.message());
  }
  return error;
}

Status RankEndpoint::TimedOut(CallKind kind) {
  std::string text = "rank " + std::to_string(rank_) + " timed out in " +
                     std::string(CallKindName(kind)) + " " +
                     std::to_string(next_call_) + " of " +
                     std::to_string(world_size_) + " ranks; ";
  text += absent_.empty() ? "the coordinator did not answer which are missing"
                          : absent_;
  return Status(Code::kTimeout, std::move(text));
}

Result<std::vector<std::string>> RankEndpoint::Call(CallKind kind,
                                                    std::string_view mine,
                                                    Deadline deadline) {
  if (mine.size() > kMaxBlobBytes) {
    return InvalidArgument("rank " + std::to_string(rank_) +
                           " offered a blob of " + std::to_string(mine.size()) +
                           " bytes; at most " + std::to_string(kMaxBlobBytes) +
                           " are accepted");
  }
  RONDO_RETURN_IF_ERROR(BeginCall(kind));
  const uint64_t call = next_call_;  // changes only inside calls
  Send(MessageType::kContribute, ContributeMessage{call, kind, mine}.Encode());
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (WaitForCall(&lock, deadline)) return EndCall();
  }
  Send(MessageType::kAskAbsent, CallMessage{call, Code::kTimeout, ""}.Encode());
  std::unique_lock<std::mutex> lock(mutex_);
  const Deadline answer = Deadline::AfterMs(kAskAbsentMs);
  while (!CallOver() && absent_.empty() && !answer.expired()) {
    changed_.wait_for(lock, std::chrono::milliseconds(answer.remaining_ms()));
  }
  if (!CallOver()) call_error_ = TimedOut(kind);
  return EndCall();
}

Status RankEndpoint::OnMessage(MessageType type, std::string_view payload) {
  switch (type) {
    case MessageType::kGathered:
      return OnGathered(payload);
    case MessageType::kCallFailed:
    case MessageType::kAbsent:
      return OnCallMessage(type, payload);
    case MessageType::kLeft:
      return OnLeft(payload);
    case MessageType::kFailure: {
      RONDO_ASSIGN_OR_RETURN(auto message, ErrorMessage::Decode(payload));
      Fail(message.error);
      return Status::Ok();
    }
    default:
      return Status(Code::kTransport,
                    "the coordinator sent an unexpected message of type " +
                        std::to_string(static_cast<int>(type)));
  }
}

Status RankEndpoint::OnGathered(std::string_view payload) {
  RONDO_ASSIGN_OR_RETURN(auto message, GatheredMessage::Decode(payload));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    // The answer to a call that this rank gave up.
    if (!in_call_ || message.call != next_call_) return Status::Ok();
    const size_t room = static_cast<size_t>(world_size_) - parts_.size();
    if (static_cast<size_t>(message.first_rank) != parts_.size() ||
        message.blobs.size() > room) {
      return Status(Code::kTransport,
                    "the coordinator sent the parts of rank " +
                        std::to_string(message.first_rank) +
                        " where those of rank " +
                        std::to_string(parts_.size()) + " were due");
    }
    for (std::string_view blob : message.blobs) parts_.emplace_back(blob);
  }
  changed_.notify_all();
  return Status::Ok();
}

Status RankEndpoint::OnLeft(std::string_view payload) {
  RONDO_ASSIGN_OR_RETURN(const int rank, DecodeRank(payload));
  if (rank < 0 || rank >= world_size_) {
    return Status(Code::kTransport, "the coordinator says that rank " +
                                        std::to_string(rank) + " left, of " +
                                        std::to_string(world_size_));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  left_[rank] = true;
  someone_left_.store(true, std::memory_order_release);
  return Status::Ok();
}

Status RankEndpoint::OnCallMessage(MessageType type, std::string_view payload) {
  RONDO_ASSIGN_OR_RETURN(auto message, CallMessage::Decode(payload));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!in_call_ || message.call != next_call_) return Status::Ok();
    if (type == MessageType::kAbsent) {
      absent_ = message.text;
    } else if (call_error_.ok()) {
      call_error_ = Status(message.code, std::string(message.text));
    }
  }
  changed_.notify_all();
  return Status::Ok();
}

}  // namespace rondo
