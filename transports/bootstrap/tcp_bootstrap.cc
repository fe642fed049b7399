#include "transports/bootstrap/tcp_bootstrap.h"

#include <poll.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "transports/bootstrap/rank_endpoint.h"
#include "transports/bootstrap/service_thread.h"
#include "transports/bootstrap/tcp_join.h"

namespace rondo {

namespace {

constexpr int64_t kNsPerMs = 1000000;

class TcpBootstrap : public RankEndpoint {
 public:
  TcpBootstrap(const UniqueId& id, int rank, int world_size,
               const TcpOptions& options, Introduction introduction,
               Waker waker)
      : RankEndpoint(rank, world_size),
        address_(id.address().ToString()),
        options_(options),
        heartbeat_ns_(introduction.accepted.heartbeat_ms * kNsPerMs),
        silence_ns_(introduction.accepted.peer_timeout_ms * kNsPerMs),
        connection_(std::move(introduction.connection)),
        owner_rank_(introduction.accepted.owner_rank),
        waker_(std::move(waker)) {}

  ~TcpBootstrap() override {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      outgoing_.push_back({MessageType::kGoodbye, ""});
      leave_ = Deadline::AfterMs(options_.leave_timeout_ms);
    }
    waker_.Signal();
    thread_.join();
  }

  Status StartThread() {
    RONDO_ASSIGN_OR_RETURN(
        thread_, StartServiceThread("rondo-boot", [this] { Serve(); }));
    return Status::Ok();
  }

 protected:
  void Send(MessageType type, std::string payload) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      // After the goodbye, or without a connection, nobody would read it.
      if (leave_ || gone_) return;
      outgoing_.push_back({type, std::move(payload)});
    }
    waker_.Signal();
  }

 private:
  // The service thread.
  void Serve();
  // Moves what others posted to the connection; true while not leaving.
  std::optional<Deadline> TakeOutgoing();
  void Wait(std::optional<Deadline> leave);
  Status ReadFrames();
  Status OnFrame(const FrameView& frame);
  void BeatHeart();
  bool CheckSilence();
  // "rank 0 died: ..." or "the coordinator at ... died: ...".
  Status CoordinatorLost(const std::string& how) const;

  struct Message {
    MessageType type;
    std::string payload;
  };

  const std::string address_;
  const TcpOptions options_;
  const int64_t heartbeat_ns_;
  const int64_t silence_ns_;

  // The service thread's own.
  Connection connection_;
  int owner_rank_;
  bool closing_ = false;  // the coordinator has said that it ends
  bool readable_ = false;
  int64_t heard_ns_ = NowNs();
  int64_t beat_ns_ = NowNs();
  int64_t turn_ns_ = NowNs();

  Waker waker_;
  std::mutex mutex_;
  std::vector<Message> outgoing_;
  std::optional<Deadline> leave_;
  bool gone_ = false;  // the service thread has ended
  std::thread thread_;
};

void TcpBootstrap::Serve() {
  bool said_goodbye = false;
  while (true) {
    const std::optional<Deadline> leave = TakeOutgoing();
    Status error = connection_.Flush();
    if (leave && error.ok() && !connection_.wants_write() && !said_goodbye) {
      connection_.ShutDownSending();
      said_goodbye = true;
    }
    // Leaving waits for the coordinator's end, because a socket closed with
    // unread bytes is reset and could take the goodbye with it.
    if (leave && leave->expired()) break;
    if (error.ok()) {
      Wait(leave);
      if (!said_goodbye) BeatHeart();
      if (readable_) error = ReadFrames();
    }
    if (closing_) break;
    if (!error.ok()) {
      if (!said_goodbye) Fail(CoordinatorLost(error.message()));
      break;
    }
    if (!said_goodbye && CheckSilence()) break;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  gone_ = true;
  connection_.ShutDownSending();
}

std::optional<Deadline> TcpBootstrap::TakeOutgoing() {
  std::vector<Message> messages;
  std::optional<Deadline> leave;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    messages.swap(outgoing_);
    leave = leave_;
  }
  for (Message& message : messages) {
    connection_.Queue(message.type, std::move(message.payload));
  }
  return leave;
}

void TcpBootstrap::Wait(std::optional<Deadline> leave) {
  const short events = connection_.wants_write() ? (POLLIN | POLLOUT) : POLLIN;
  pollfd polled[2] = {{waker_.fd(), POLLIN, 0}, {connection_.fd(), events, 0}};
  const int64_t due_ns = beat_ns_ + heartbeat_ns_ - NowNs();
  int timeout_ms =
      static_cast<int>(std::max<int64_t>(due_ns, 0) / kNsPerMs) + 1;
  if (leave) timeout_ms = std::min(timeout_ms, leave->remaining_ms());
  const bool some = poll(polled, 2, timeout_ms) > 0;
  if (some && polled[0].revents != 0) waker_.Drain();
  readable_ = some && (polled[1].revents & ~POLLOUT) != 0;
}

void TcpBootstrap::BeatHeart() {
  const int64_t now = NowNs();
  if (now - beat_ns_ < heartbeat_ns_) return;
  beat_ns_ = now;
  if (!connection_.wants_write()) {
    connection_.Queue(MessageType::kHeartbeat, "");
  }
}

Status TcpBootstrap::ReadFrames() {
  RONDO_ASSIGN_OR_RETURN(const bool open, connection_.Fill());
  heard_ns_ = NowNs();
  while (!closing_) {
    RONDO_ASSIGN_OR_RETURN(auto frame, connection_.Next());
    if (!frame) break;
    RONDO_RETURN_IF_ERROR(OnFrame(*frame));
  }
  if (open || closing_) return Status::Ok();
  return Status(Code::kTransport, "the connection closed");
}

Status TcpBootstrap::OnFrame(const FrameView& frame) {
  switch (frame.type) {
    case MessageType::kHeartbeat:
      return Status::Ok();
    case MessageType::kOwner: {
      RONDO_ASSIGN_OR_RETURN(owner_rank_, DecodeRank(frame.payload));
      return Status::Ok();
    }
    case MessageType::kClosing:
      closing_ = true;
      Close(CoordinatorLost("it ended in an orderly way before this rank did"));
      return Status::Ok();
    default:
      return OnMessage(frame.type, frame.payload);
  }
}

bool TcpBootstrap::CheckSilence() {
  const int64_t now = NowNs();
  // If this thread itself was stopped, the silence is not the coordinator's.
  if (now - turn_ns_ > silence_ns_ / 2) heard_ns_ = now;
  turn_ns_ = now;
  if (now - heard_ns_ <= silence_ns_) return false;
  Fail(CoordinatorLost("no heartbeat for " +
                       std::to_string(silence_ns_ / kNsPerMs) + " ms"));
  return true;
}

Status TcpBootstrap::CoordinatorLost(const std::string& how) const {
  const std::string place = "the coordinator at " + address_;
  std::string text;
  if (owner_rank_ < 0) {
    text = place + (closing_ ? " left: " : " died: ") + how;
  } else {
    text = "rank " + std::to_string(owner_rank_) +
           (closing_ ? " left" : " died") + " (" + place +
           ", in its process): " + how;
  }
  return Status(Code::kRemoteDead, std::move(text));
}

}  // namespace

Result<std::unique_ptr<Bootstrap>> JoinTcp(const UniqueId& id, int rank,
                                           int world_size,
                                           const TcpOptions& options) {
  if (world_size < 1 || world_size > kMaxWorldSize) {
    return InvalidArgument("world size " + std::to_string(world_size) +
                           " is not in 1 to " + std::to_string(kMaxWorldSize));
  }
  if (rank < 0 || rank >= world_size) {
    return InvalidArgument("rank " + std::to_string(rank) + " is not in 0 to " +
                           std::to_string(world_size - 1));
  }
  if (options.join_timeout_ms < 1 || options.leave_timeout_ms < 0) {
    return InvalidArgument(
        "join_timeout_ms is " + std::to_string(options.join_timeout_ms) +
        " and leave_timeout_ms is " + std::to_string(options.leave_timeout_ms) +
        "; at least 1 and 0 are accepted");
  }
  RONDO_ASSIGN_OR_RETURN(Waker waker, Waker::Create());
  RONDO_ASSIGN_OR_RETURN(Introduction joined,
                         Introduce(id, rank, world_size, options.retry,
                                   Deadline::AfterMs(options.join_timeout_ms)));
  auto bootstrap = std::make_unique<TcpBootstrap>(
      id, rank, world_size, options, std::move(joined), std::move(waker));
  RONDO_RETURN_IF_ERROR(bootstrap->StartThread());
  return std::unique_ptr<Bootstrap>(std::move(bootstrap));
}

}  // namespace rondo
