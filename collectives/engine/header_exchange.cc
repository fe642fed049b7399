#include "collectives/engine/header_exchange.h"

#include <algorithm>
#include <utility>

#include "collectives/engine/tag.h"

namespace rondo {
namespace {

constexpr int64_t kDisagreementMs = 200;

}  // namespace

void HeaderExchange::Reset(const CallHeader* header, int lanes,
                           std::span<const int> send_to,
                           std::span<const int> receive_from) {
  header_ = header;
  lanes_ = lanes;
  matched_ = false;
  disagreement_until_.reset();
  if (!sends_.empty()) sends_.clear();
  if (!receives_.empty()) receives_.clear();
  AddMessages(send_to, &sends_);
  AddMessages(receive_from, &receives_);
}

void HeaderExchange::AddMessages(std::span<const int> peers,
                                 std::deque<Message>* messages) {
  for (int peer : peers) {
    for (int lane = 0; lane < lanes_; ++lane) {
      Message& message = messages->emplace_back();
      message.peer = peer;
      message.lane = lane;
    }
  }
}

void HeaderExchange::Start() {
  context_->segment->Post(*header_);
  if (sends_.empty() && receives_.empty()) return;
  const uint64_t tag = MakeTag(TagKind::kHeader, header_->sequence, 0, 0);
  for (Message& receive : receives_) {
    context_->transport->Receive(receive.peer, receive.lane, tag,
                                 {&receive.header, sizeof(CallHeader)},
                                 &receive.transfer);
  }
  for (Message& send : sends_) {
    send.header = *header_;
    context_->transport->Send(send.peer, send.lane, tag,
                              {&send.header, sizeof(CallHeader)},
                              &send.transfer);
  }
}

std::vector<std::pair<int, CallHeader>> HeaderExchange::Arrived() const {
  std::vector<std::pair<int, CallHeader>> headers;
  for (int peer = 0; peer < context_->ranks; ++peer) {
    if (!context_->IsLocal(peer)) continue;
    const CallHeader* posted = context_->segment->Posted(
        context_->local_index[peer], header_->sequence);
    if (posted != nullptr) headers.emplace_back(peer, *posted);
  }
  for (const Message& receive : receives_) {
    if (!receive.transfer.done() || !receive.transfer.status().ok()) continue;
    // A peer's other lanes repeat its header, unless something is wrong.
    if (receive.lane == 0 || receive.header.agreement != header_->agreement) {
      headers.emplace_back(receive.peer, receive.header);
    }
  }
  return headers;
}

Result<bool> HeaderExchange::Matched() {
  if (matched_) return true;
  bool complete = true;
  bool agree = true;
  const HostSegment& segment = *context_->segment;
  for (int peer = 0; peer < segment.local_size(); ++peer) {
    const auto arrival = segment.ArrivalOf(peer, *header_);
    complete = complete && arrival != HostSegment::Arrival::kMissing;
    agree = agree && arrival != HostSegment::Arrival::kDiffers;
  }
  for (const Message& receive : receives_) {
    complete = complete && receive.transfer.done();
    if (!receive.transfer.done()) continue;
    RONDO_RETURN_IF_ERROR(receive.transfer.status());
    agree = agree && receive.header.agreement == header_->agreement;
  }
  if (agree) return matched_ = complete;
  if (!complete) {
    if (!disagreement_until_.has_value()) {
      disagreement_until_ = Deadline::AfterMs(kDisagreementMs);
    }
    if (!disagreement_until_->expired()) return false;
  }
  return MatchHeaders(Arrived());
}

bool HeaderExchange::SpinForArrival(int pauses) const {
  if (!receives_.empty()) return false;
  const HostSegment& segment = *context_->segment;
  int peer = 0;
  for (int pause = 0; pause < pauses; ++pause) {
    while (segment.ArrivalOf(peer, *header_) !=
           HostSegment::Arrival::kMissing) {
      if (++peer == segment.local_size()) return true;
    }
    SpinPause();
  }
  return false;
}

Result<bool> HeaderExchange::Idle() const {
  for (const Message& send : sends_) {
    if (!send.transfer.done()) return false;
    RONDO_RETURN_IF_ERROR(send.transfer.status());
  }
  return true;
}

std::vector<int> HeaderExchange::Missing() const {
  std::vector<int> missing;
  for (int peer = 0; peer < context_->ranks; ++peer) {
    if (context_->IsLocal(peer) &&
        context_->segment->Posted(context_->local_index[peer],
                                  header_->sequence) == nullptr) {
      missing.push_back(peer);
    }
  }
  for (const Message& receive : receives_) {
    if (!receive.transfer.done()) missing.push_back(receive.peer);
  }
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  return missing;
}

}  // namespace rondo
