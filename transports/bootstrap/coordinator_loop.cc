#include "transports/bootstrap/coordinator_loop.h"

#include <algorithm>
#include <cerrno>

#include "transports/bootstrap/network.h"

namespace rondo {

namespace {

constexpr int64_t kNsPerMs = 1000000;
constexpr int kMaxPending = 64;
// A stranger that has had this long may be dropped for the next in line. Real
// ranks need a few milliseconds, so a flood cannot starve them.
constexpr int64_t kMinPendingNs = 50 * kNsPerMs;
// When descriptors run out, the listener rests instead of spinning.
constexpr int64_t kAcceptRestNs = 20 * kNsPerMs;
constexpr int kAcceptsPerTurn = 64;
constexpr int kFarewellMs = 300;

}  // namespace

CoordinatorLoop::CoordinatorLoop(const UniqueId& id,
                                 const CoordinatorOptions& options,
                                 const ProcessToken& process,
                                 FileDescriptor listener, Waker waker)
    : id_(id),
      options_(options),
      process_(process),
      listener_(std::move(listener)),
      waker_(std::move(waker)) {}

void CoordinatorLoop::RequestStop(Deadline deadline) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!stop_) stop_ = deadline;
  }
  waker_.Signal();
}

CoordinatorStats CoordinatorLoop::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

int CoordinatorLoop::joined() const {
  return static_cast<int>(stats().accepted);
}

void CoordinatorLoop::Count(Counter counter) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++(stats_.*counter);
}

void CoordinatorLoop::Run() {
  std::vector<pollfd> polled;
  while (!ShouldStop()) {
    WaitForEvents(&polled);
    // The list may grow below; entries 2.. of `polled` match its old part.
    for (size_t i = 2; i < polled.size(); ++i) {
      if (polled[i].revents & ~POLLOUT) ReadClient(clients_[i - 2].get());
    }
    if (polled[0].revents != 0) waker_.Drain();
    if (polled[1].revents != 0) AcceptClients();
    ExpireClients();
    SendOutgoing();
    BeatHearts();
    FlushClients();
    SendOutgoing();  // a flush may have found a rank dead
    std::erase_if(clients_, [](const auto& client) {
      return client->phase == Phase::kClosed;
    });
  }
  SayFarewell();
}

void CoordinatorLoop::WaitForEvents(std::vector<pollfd>* polled) {
  const bool may_accept = MakeRoom() && NowNs() >= no_accept_until_ns_;
  polled->clear();
  polled->push_back({waker_.fd(), POLLIN, 0});
  polled->push_back({may_accept ? listener_.get() : -1, POLLIN, 0});
  for (const auto& client : clients_) {
    const bool writes = client->connection.wants_write();
    const short events = writes ? (POLLIN | POLLOUT) : POLLIN;
    polled->push_back({client->connection.fd(), events, 0});
  }
  int timeout_ms = options_.heartbeat_ms;
  if (!may_accept) timeout_ms = std::min(timeout_ms, 5);
  if (poll(polled->data(), polled->size(), timeout_ms) <= 0) {
    for (pollfd& entry : *polled) entry.revents = 0;
  }
  // If this thread itself was stopped (a suspended job, a frozen machine), then
  // nobody else is to blame for the silence.
  const int64_t now = NowNs();
  const int64_t gap = now - turn_ns_;
  turn_ns_ = now;
  if (gap <= options_.peer_timeout_ms * kNsPerMs / 2) return;
  for (const auto& client : clients_) client->heard_ns = now;
}

// Whether one more stranger may come in. When all places are taken, the oldest
// has to go, once it has had its chance.
bool CoordinatorLoop::MakeRoom() {
  if (pending_ < kMaxPending) return true;
  for (const auto& client : clients_) {  // oldest first
    if (!client->pending()) continue;
    if (NowNs() - client->since_ns < kMinPendingNs) return false;
    Drop(client.get(), &CoordinatorStats::crowded_out);
    std::erase_if(clients_, [](const auto& entry) {
      return entry->phase == Phase::kClosed;
    });
    return true;
  }
  return true;
}

void CoordinatorLoop::AcceptClients() {
  for (int i = 0; i < kAcceptsPerTurn && pending_ < kMaxPending; ++i) {
    AcceptResult result = AcceptFrom(listener_.get());
    if (result.error != 0) no_accept_until_ns_ = NowNs() + kAcceptRestNs;
    if (!result.socket.valid()) return;
    clients_.push_back(std::make_unique<Client>(std::move(result.socket)));
    ++pending_;
  }
}

void CoordinatorLoop::Drop(Client* client, Counter reason) {
  Count(reason);
  if (client->pending()) --pending_;
  client->phase = Phase::kClosed;
}

void CoordinatorLoop::LoseRank(Client* client, const std::string& how) {
  client->phase = Phase::kClosed;
  by_rank_[client->who.rank] = nullptr;
  membership_->Die(client->who.rank, how);
}

void CoordinatorLoop::ReadClient(Client* client) {
  if (client->phase == Phase::kClosed) return;
  const Result<bool> open = client->connection.Fill();
  Status error = open.ok() ? Status::Ok() : open.status();
  while (error.ok() && client->phase != Phase::kClosed) {
    const Result<std::optional<FrameView>> frame = client->connection.Next();
    if (!frame.ok()) {
      error = frame.status();
    } else if (!*frame) {
      break;
    } else {
      error = OnFrame(client, **frame);
    }
  }
  if (client->phase == Phase::kClosed) return;
  if (client->phase != Phase::kRank) {
    if (!open.ok() || (error.ok() && !*open)) {
      Drop(client, &CoordinatorStats::gave_up);
    } else if (!error.ok()) {
      Drop(client, &CoordinatorStats::garbage);
    }
    return;
  }
  client->heard_ns = NowNs();
  if (!error.ok()) {
    LoseRank(client, "its connection broke: " + error.message());
  } else if (!*open) {
    LoseRank(client, "its connection closed without a goodbye");
  }
}

void CoordinatorLoop::SendOutgoing() {
  if (!membership_) return;
  for (Membership::Outgoing& message : membership_->TakeOutgoing()) {
    Client* const client = by_rank_[message.rank];
    if (client == nullptr) continue;
    client->connection.Queue(message.type, std::move(message.payload));
  }
}

void CoordinatorLoop::BeatHearts() {
  const int64_t now = NowNs();
  if (now - beat_ns_ < options_.heartbeat_ms * kNsPerMs) return;
  beat_ns_ = now;
  for (const auto& client : clients_) {
    // Whatever waits to be written is a sign of life as well.
    if (client->phase != Phase::kRank || client->connection.wants_write()) {
      continue;
    }
    client->connection.Queue(MessageType::kHeartbeat, "");
  }
}

void CoordinatorLoop::ExpireClients() {
  const int64_t now = NowNs();
  const int64_t handshake_ns = options_.handshake_timeout_ms * kNsPerMs;
  const int64_t silence_ns = options_.peer_timeout_ms * kNsPerMs;
  for (const auto& client : clients_) {
    if (client->pending() && now - client->since_ns > handshake_ns) {
      Drop(client.get(), &CoordinatorStats::slow);
    }
    if (client->phase != Phase::kRank || now - client->heard_ns <= silence_ns) {
      continue;
    }
    const std::string how =
        "no heartbeat for " + std::to_string(options_.peer_timeout_ms) + " ms";
    membership_->Die(client->who.rank, how);
    // If it is only stopped, it learns what happened when it goes on.
    SendOutgoing();
    [[maybe_unused]] const Status ignored = client->connection.Flush();
    LoseRank(client.get(), how);
  }
}

void CoordinatorLoop::FlushClients() {
  for (const auto& client : clients_) {
    if (client->phase == Phase::kClosed) continue;
    const Status flushed = client->connection.Flush();
    if (flushed.ok()) continue;
    if (client->phase == Phase::kRank) {
      LoseRank(client.get(), "its connection broke: " + flushed.message());
    } else {
      Drop(client.get(), &CoordinatorStats::gave_up);
    }
  }
}

bool CoordinatorLoop::ShouldStop() {
  std::optional<Deadline> stop;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop = stop_;
  }
  if (!stop) return false;
  return !membership_ || membership_->Present().empty() ||
         !membership_->failure().ok() || stop->expired();
}

// Everything that is queued goes out, then the word that this end is orderly.
// Waits for the ranks to close first: a socket that is closed with unread bytes
// would reset the connection and might lose that word.
void CoordinatorLoop::SayFarewell() {
  listener_.Close();
  SendOutgoing();
  std::erase_if(clients_, [](const auto& client) {
    return client->phase != Phase::kRank;
  });
  for (const auto& client : clients_) {
    client->connection.Queue(MessageType::kClosing, "");
  }
  const Deadline deadline = Deadline::AfterMs(kFarewellMs);
  while (!clients_.empty() && !deadline.expired()) {
    std::vector<pollfd> polled;
    for (const auto& client : clients_) {
      const bool writes = client->connection.wants_write();
      polled.push_back({client->connection.fd(),
                        static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN),
                        0});
    }
    poll(polled.data(), polled.size(), deadline.remaining_ms());
    for (const auto& client : clients_) {
      const bool wrote = client->connection.wants_write();
      bool open = client->connection.Flush().ok();
      if (wrote && !client->connection.wants_write()) {
        client->connection.ShutDownSending();
      }
      const Result<bool> filled = client->connection.Fill();
      while (filled.ok()) {  // discard, but never hoard
        const auto frame = client->connection.Next();
        if (!frame.ok() || !*frame) break;
      }
      open = open && filled.ok() && *filled;
      if (!open) client->phase = Phase::kClosed;
    }
    std::erase_if(clients_, [](const auto& client) {
      return client->phase == Phase::kClosed;
    });
  }
}

}  // namespace rondo
