#include "transports/inprocess/inprocess_transport.h"

#include <cstring>
#include <utility>

#include "transports/base/clock.h"
#include "transports/inprocess/inprocess_internal.h"

namespace rondo {

namespace {
// Up to here a copy is cheaper than making the sender wait for the receiver.
constexpr size_t kCopiedBytes = 8192;
}  // namespace

InProcessTransport::InProcessTransport(
    std::shared_ptr<InProcessNetwork> network, int rank)
    : network_(std::move(network)), rank_(rank) {}

InProcessTransport::~InProcessTransport() {
  FailAll(Status(Code::kAborted, "rank " + std::to_string(rank_) +
                                     ": the transport was destroyed"));
  network_->ranks_[rank_]->left.store(true, std::memory_order_release);
}

std::string InProcessTransport::Describe() const {
  return "in-process, rank " + std::to_string(rank_) + " of " +
         std::to_string(network_->world_size()) + ", lanes " +
         std::to_string(lane_count());
}

bool InProcessTransport::Supports(MemoryKind kind) const {
  return kind == MemoryKind::kHost;
}

Result<std::string> InProcessTransport::Address() {
  return network_->AddressOf(rank_);
}

Status InProcessTransport::Connect(int rank,
                                   std::vector<std::string> addresses) {
  RONDO_RETURN_IF_ERROR(CheckConnect(shape_, rank, addresses.size()));
  if (rank != rank_ ||
      addresses.size() != static_cast<size_t>(network_->world_size())) {
    return InvalidArgument("rank " + std::to_string(rank) + " of " +
                           std::to_string(addresses.size()) +
                           " does not match this endpoint, " +
                           "which is rank " + std::to_string(rank_) + " of " +
                           std::to_string(network_->world_size()));
  }
  for (int peer = 0; peer < network_->world_size(); ++peer) {
    if (peer != rank && addresses[peer] != network_->AddressOf(peer)) {
      return InvalidArgument("rank " + std::to_string(rank) +
                             ": the address of rank " + std::to_string(peer) +
                             " is not one of this in-process network");
    }
  }
  failures_.resize(addresses.size());
  exchanged_.resize(addresses.size());
  shape_ = {rank, network_->world_size(), lane_count()};
  return Status::Ok();
}

Status InProcessTransport::Refusal(const char* verb, int peer, int lane,
                                   uint64_t tag, const void* data, size_t bytes,
                                   MemoryKind kind) const {
  RONDO_RETURN_IF_ERROR(
      CheckTransfer(shape_, verb, peer, lane, tag, data, bytes));
  if (!Supports(kind)) {
    return Status(Code::kNotSupported,
                  DescribeTransfer(rank_, verb, peer, lane, tag) +
                      ": the in-process transport moves host memory only");
  }
  return failures_[peer];
}

void InProcessTransport::Send(int peer, int lane, uint64_t tag,
                              ConstBuffer buffer, Transfer* transfer) {
  transfer->Begin();
  Status refusal = Refusal("send to", peer, lane, tag, buffer.data,
                           buffer.bytes, buffer.kind);
  if (!refusal.ok()) return transfer->Finish(std::move(refusal));
  exchanged_[peer] = true;
  auto message = std::make_shared<Message>();
  message->key = {rank_, lane, tag};
  message->bytes = buffer.bytes;
  message->data = buffer.data;
  const bool copied = buffer.bytes <= kCopiedBytes;
  if (copied) {
    const char* begin = static_cast<const char*>(buffer.data);
    message->copy.assign(begin, begin + buffer.bytes);
    message->data = message->copy.data();
    transfer->Finish(Status::Ok());
  } else {
    outgoing_.push_back({peer, message, transfer});
  }
  auto& inbox = *network_->ranks_[peer];
  std::lock_guard<std::mutex> lock(inbox.mutex);
  inbox.arrivals.push_back(std::move(message));
  inbox.has_arrivals.store(true, std::memory_order_release);
}

void InProcessTransport::Receive(int peer, int lane, uint64_t tag,
                                 MutableBuffer buffer, Transfer* transfer) {
  transfer->Begin();
  Status refusal = Refusal("receive from", peer, lane, tag, buffer.data,
                           buffer.bytes, buffer.kind);
  if (!refusal.ok()) return transfer->Finish(std::move(refusal));
  exchanged_[peer] = true;
  const MessageKey key{peer, lane, tag};
  auto waiting = unexpected_.find(key);
  if (waiting == unexpected_.end()) {
    posted_[key].push_back({buffer, transfer});
    return;
  }
  bool delivered = false;
  while (!delivered && !waiting->second.empty()) {
    delivered = Deliver(waiting->second.front().get(), {buffer, transfer});
    waiting->second.pop_front();
  }
  if (waiting->second.empty()) unexpected_.erase(waiting);
  if (!delivered) posted_[key].push_back({buffer, transfer});
}

bool InProcessTransport::Deliver(Message* message, const Posted& posted) {
  int expected = Message::kWaiting;
  if (!message->state.compare_exchange_strong(expected, Message::kTaken,
                                              std::memory_order_acq_rel)) {
    return false;
  }
  Status status;
  if (message->bytes != posted.buffer.bytes) {
    status =
        SizeMismatch(rank_, message->key.source, message->key.lane,
                     message->key.tag, posted.buffer.bytes, message->bytes);
  } else if (message->bytes > 0) {
    std::memcpy(posted.buffer.data, message->data, message->bytes);
  }
  message->state.store(Message::kConsumed, std::memory_order_release);
  posted.transfer->Finish(std::move(status));
  return true;
}

int InProcessTransport::TakeArrivals() {
  auto& inbox = *network_->ranks_[rank_];
  if (!inbox.has_arrivals.load(std::memory_order_acquire)) return 0;
  std::vector<std::shared_ptr<Message>> arrivals;
  {
    std::lock_guard<std::mutex> lock(inbox.mutex);
    arrivals.swap(inbox.arrivals);
    inbox.has_arrivals.store(false, std::memory_order_relaxed);
  }
  for (auto& message : arrivals) {
    auto posted = posted_.find(message->key);
    if (posted == posted_.end()) {
      unexpected_[message->key].push_back(std::move(message));
      continue;
    }
    if (!Deliver(message.get(), posted->second.front())) continue;
    posted->second.pop_front();
    if (posted->second.empty()) posted_.erase(posted);
  }
  return static_cast<int>(arrivals.size());
}

int InProcessTransport::FinishSends() {
  return static_cast<int>(std::erase_if(outgoing_, [](const Outgoing& sent) {
    if (sent.message->state.load(std::memory_order_acquire) !=
        Message::kConsumed) {
      return false;
    }
    sent.transfer->Finish(Status::Ok());
    return true;
  }));
}

std::vector<int> InProcessTransport::PeersWhoLeft() const {
  std::vector<int> left;
  if (posted_.empty() && outgoing_.empty()) return left;
  for (int peer = 0; peer < shape_.world_size; ++peer) {
    if (peer == rank_) continue;
    if (network_->ranks_[peer]->left.load(std::memory_order_acquire)) {
      left.push_back(peer);
    }
  }
  return left;
}

int InProcessTransport::FailThoseWhoLeft(const std::vector<int>& left) {
  int ended = 0;
  for (int peer : left) {
    const Status why(Code::kRemoteDead, "rank " + std::to_string(rank_) +
                                            ": rank " + std::to_string(peer) +
                                            " has left the in-process network");
    ended += EndTransfers(peer, why);
  }
  return ended;
}

int InProcessTransport::Progress() {
  if (shape_.rank < 0) return 0;
  // Looked at first: what a rank sent before it left is still delivered.
  const std::vector<int> left = PeersWhoLeft();
  int events = TakeArrivals() + FinishSends();
  return events + FailThoseWhoLeft(left);
}

int InProcessTransport::EndTransfers(int peer, const Status& why) {
  int ended = 0;
  for (auto it = posted_.begin(); it != posted_.end();) {
    if (it->first.source != peer) {
      ++it;
      continue;
    }
    for (Posted& posted : it->second) posted.transfer->Finish(why);
    ended += static_cast<int>(it->second.size());
    it = posted_.erase(it);
  }
  ended += static_cast<int>(std::erase_if(outgoing_, [&](Outgoing& sent) {
    if (sent.peer != peer) return false;
    int expected = Message::kWaiting;
    sent.message->state.compare_exchange_strong(expected, Message::kWithdrawn,
                                                std::memory_order_acq_rel);
    // The receiver is copying from our buffer: as long as one memcpy takes.
    while (sent.message->state.load(std::memory_order_acquire) ==
           Message::kTaken) {
    }
    sent.transfer->Finish(why);
    return true;
  }));
  return ended;
}

void InProcessTransport::FailPeer(int peer, const Status& why) {
  if (peer < 0 || peer >= shape_.world_size || peer == rank_) return;
  if (failures_[peer].ok()) failures_[peer] = why;
  EndTransfers(peer, why);
}

void InProcessTransport::FailAll(const Status& why) {
  for (int peer = 0; peer < shape_.world_size; ++peer) FailPeer(peer, why);
}

std::string InProcessTransport::Unfinished() const {
  std::string ranks;
  for (int peer = 0; peer < shape_.world_size; ++peer) {
    const auto& state = *network_->ranks_[peer];
    if (!exchanged_[peer] || state.disconnected || state.left) continue;
    ranks += (ranks.empty() ? "" : ", ") + std::to_string(peer);
  }
  return ranks;
}

Status InProcessTransport::Disconnect(Deadline deadline) {
  if (shape_.rank < 0) return Status::Ok();
  Backoff backoff(shape_.world_size);
  while (!outgoing_.empty() || !posted_.empty()) {
    if (deadline.expired()) {
      return Status(Code::kTimeout,
                    "rank " + std::to_string(rank_) + ": disconnect: " +
                        std::to_string(outgoing_.size() + posted_.size()) +
                        " transfers are still unfinished");
    }
    if (Progress() == 0) backoff.Pause();
  }
  network_->ranks_[rank_]->disconnected.store(true, std::memory_order_release);
  while (!Unfinished().empty()) {
    if (deadline.expired()) {
      return Status(Code::kTimeout,
                    "rank " + std::to_string(rank_) +
                        ": disconnect: still waiting for rank " + Unfinished());
    }
    if (Progress() == 0) backoff.Pause();
  }
  return Status::Ok();
}

}  // namespace rondo
