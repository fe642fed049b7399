#include "transports/fault/fault_transport.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "transports/base/clock.h"
#include "transports/contract/arguments.h"

namespace rondo {

namespace {

// SplitMix64: numbers that are unrelated for neighbouring seeds.
uint64_t Mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

uint64_t Draw(uint64_t seed, uint64_t stream, uint64_t index) {
  return Mix(Mix(Mix(seed) ^ stream) ^ index);
}

// Whether message `index` is hit: one of each 1/rate in a row.
bool Hits(const MessageFault& fault, uint64_t stream, uint64_t index) {
  const uint64_t period = std::max<uint64_t>(1, std::llround(1.0 / fault.rate));
  return Draw(fault.seed, stream, index / period) % period == index % period;
}

class FaultTransport : public Transport {
 public:
  FaultTransport(std::unique_ptr<Transport> inner, FaultPlan plan,
                 FaultOptions options)
      : plan_(plan), options_(std::move(options)), inner_(std::move(inner)) {}
  ~FaultTransport() override {
    EndHeld(-1, Status(Code::kAborted, "the transport was destroyed"));
    inner_.reset();
  }

  std::string Describe() const override {
    return inner_->Describe() + "; with faults injected";
  }
  int lane_count() const override { return inner_->lane_count(); }
  bool Supports(MemoryKind kind) const override {
    return inner_->Supports(kind);
  }
  Result<std::string> Address() override { return inner_->Address(); }
  Status Connect(int rank, std::vector<std::string> addresses) override;
  void Send(int peer, int lane, uint64_t tag, ConstBuffer buffer,
            Transfer* transfer) override;
  void Receive(int peer, int lane, uint64_t tag, MutableBuffer buffer,
               Transfer* transfer) override;
  int Progress() override;
  void FailPeer(int peer, const Status& why) override;
  void FailAll(const Status& why) override;
  Status Disconnect(Deadline deadline) override;

 private:
  // Messages of one queue keep their order.
  using QueueKey = std::tuple<int, int, uint64_t>;  // peer, lane, tag
  struct Held {
    int64_t due_ns;
    int lane;
    uint64_t tag;
    ConstBuffer buffer;
    Transfer* transfer;
  };
  struct Corruption {
    MutableBuffer buffer;
    Transfer* transfer;
    uint64_t bit;
  };

  // Whether the wrapped transport ends such a send at once, as it must.
  bool WillBeRefused(int peer, int lane, uint64_t tag,
                     const ConstBuffer& buffer) const;
  bool Holds() const { return plan_.delay || plan_.reorder; }
  int64_t HoldNs(uint64_t index) const;
  int Release();
  int EndHeld(int peer, const Status& why);  // -1: of every peer
  void Corrupt();
  // Counts a message; true once this rank is dead.
  bool Dead();

  const FaultPlan plan_;
  const FaultOptions options_;
  int rank_ = -1;
  uint64_t world_size_ = 1;
  uint64_t sends_ = 0;
  uint64_t receives_ = 0;  // of payload
  bool dead_ = false;
  std::set<int> failed_peers_;
  std::map<QueueKey, std::deque<Held>> held_;
  std::vector<Corruption> corruptions_;
  std::unique_ptr<Transport> inner_;
};

Status FaultTransport::Connect(int rank, std::vector<std::string> addresses) {
  const size_t world_size = addresses.size();
  RONDO_RETURN_IF_ERROR(inner_->Connect(rank, std::move(addresses)));
  rank_ = rank;
  world_size_ = world_size;
  return Status::Ok();
}

bool FaultTransport::Dead() {
  if (dead_ || !plan_.die || rank_ < 0) return dead_;
  if (plan_.die->rank % world_size_ != static_cast<uint64_t>(rank_)) {
    return false;
  }
  if (sends_ < static_cast<uint64_t>(plan_.die->messages)) return false;
  if (options_.death == FaultOptions::Death::kKillProcess) {
    kill(getpid(), SIGKILL);
  }
  const Status why(Code::kAborted, "rank " + std::to_string(rank_) +
                                       ": died, as the fault plan says");
  FailAll(why);
  dead_ = true;
  return true;
}

int64_t FaultTransport::HoldNs(uint64_t index) const {
  int64_t hold_us = 0;
  for (const auto& fault : {plan_.delay, plan_.reorder}) {
    if (!fault) continue;
    const uint64_t drawn = Draw(fault->seed, rank_, index);
    hold_us += static_cast<int64_t>(drawn % (fault->max_us + 1));
  }
  return hold_us * 1000;
}

bool FaultTransport::WillBeRefused(int peer, int lane, uint64_t tag,
                                   const ConstBuffer& buffer) const {
  return !inner_->Supports(buffer.kind) || failed_peers_.count(peer) != 0 ||
         !CheckTransfer({rank_, static_cast<int>(world_size_), lane_count()},
                        "send to", peer, lane, tag, buffer.data, buffer.bytes)
              .ok();
}

void FaultTransport::Send(int peer, int lane, uint64_t tag, ConstBuffer buffer,
                          Transfer* transfer) {
  if (Dead() || rank_ < 0) {
    return inner_->Send(peer, lane, tag, buffer, transfer);
  }
  const uint64_t index = sends_++;
  if (plan_.drop && Hits(*plan_.drop, rank_, index)) {
    transfer->Begin();
    return transfer->Finish(Status::Ok());
  }
  if (!Holds() || WillBeRefused(peer, lane, tag, buffer)) {
    return inner_->Send(peer, lane, tag, buffer, transfer);
  }
  transfer->Begin();
  const QueueKey key =
      plan_.reorder ? QueueKey{peer, lane, tag} : QueueKey{peer, 0, 0};
  held_[key].push_back({NowNs() + HoldNs(index), lane, tag, buffer, transfer});
}

void FaultTransport::Receive(int peer, int lane, uint64_t tag,
                             MutableBuffer buffer, Transfer* transfer) {
  inner_->Receive(peer, lane, tag, buffer, transfer);
  if (!plan_.corrupt || buffer.bytes == 0 || dead_) return;
  if (buffer.kind != MemoryKind::kHost) return;
  if (options_.is_payload && !options_.is_payload(tag, buffer.bytes)) return;
  const uint64_t index = receives_++;
  if (!Hits(*plan_.corrupt, rank_, index)) return;
  const uint64_t bit = Draw(~plan_.corrupt->seed, rank_, index);
  corruptions_.push_back({buffer, transfer, bit % (buffer.bytes * 8)});
  Corrupt();
}

void FaultTransport::Corrupt() {
  std::erase_if(corruptions_, [](const Corruption& corruption) {
    if (!corruption.transfer->done()) return false;
    if (corruption.transfer->status().ok()) {
      auto* bytes = static_cast<unsigned char*>(corruption.buffer.data);
      bytes[corruption.bit / 8] ^= 1u << (corruption.bit % 8);
    }
    return true;
  });
}

int FaultTransport::Release() {
  int released = 0;
  const int64_t now_ns = NowNs();
  for (auto queue = held_.begin(); queue != held_.end();) {
    std::deque<Held>& waiting = queue->second;
    while (!waiting.empty() && waiting.front().due_ns <= now_ns) {
      const Held held = waiting.front();
      waiting.pop_front();
      inner_->Send(std::get<0>(queue->first), held.lane, held.tag, held.buffer,
                   held.transfer);
      ++released;
    }
    queue = waiting.empty() ? held_.erase(queue) : std::next(queue);
  }
  return released;
}

int FaultTransport::Progress() {
  if (Dead()) return 0;
  const int released = Release();
  const int events = inner_->Progress();
  Corrupt();
  return released + events;
}

int FaultTransport::EndHeld(int peer, const Status& why) {
  int ended = 0;
  for (auto queue = held_.begin(); queue != held_.end();) {
    if (peer >= 0 && std::get<0>(queue->first) != peer) {
      ++queue;
      continue;
    }
    for (const Held& held : queue->second) held.transfer->Finish(why);
    ended += static_cast<int>(queue->second.size());
    queue = held_.erase(queue);
  }
  return ended;
}

void FaultTransport::FailPeer(int peer, const Status& why) {
  if (peer < 0) return;
  failed_peers_.insert(peer);
  EndHeld(peer, why);
  inner_->FailPeer(peer, why);
  Corrupt();
}

void FaultTransport::FailAll(const Status& why) {
  for (uint64_t peer = 0; peer < world_size_; ++peer) {
    failed_peers_.insert(static_cast<int>(peer));
  }
  EndHeld(-1, why);
  inner_->FailAll(why);
  Corrupt();
}

Status FaultTransport::Disconnect(Deadline deadline) {
  Backoff backoff;
  while (!held_.empty()) {
    if (deadline.expired()) {
      return Status(Code::kTimeout,
                    "rank " + std::to_string(rank_) +
                        ": disconnect: held messages were not sent yet");
    }
    if (Progress() == 0) backoff.Pause();
  }
  Status status = inner_->Disconnect(deadline);
  Corrupt();
  return status;
}

}  // namespace

std::unique_ptr<Transport> WrapWithFaults(std::unique_ptr<Transport> transport,
                                          FaultPlan plan,
                                          FaultOptions options) {
  return std::make_unique<FaultTransport>(std::move(transport), plan,
                                          std::move(options));
}

}  // namespace rondo
