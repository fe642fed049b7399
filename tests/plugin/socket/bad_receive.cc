#include "tests/plugin/socket/bad_receive.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tests/plugin/socket/faults.h"

namespace rondo::bad_plugin {
namespace {

constexpr size_t kLarge = 512 << 10;
constexpr uint64_t kMostMessageBytes = uint64_t{1} << 31;

}  // namespace

bool ReceiveComm::ReceiveRequest::done() const {
  return std::all_of(entries.begin(), entries.end(),
                     [](const Entry& entry) { return entry.done; });
}

bool ReceiveComm::ReceiveRequest::taken() const {
  return std::all_of(entries.begin(), entries.end(),
                     [](const Entry& entry) { return entry.taken; });
}

int ReceiveComm::Receive(int count, void** data, const size_t* bytes,
                         const int* tags, void** memory_handles,
                         void** request) {
  const bool marked =
      *request == reinterpret_cast<void*>(nccl::kOptionalReceiveCompletion);
  void* const before = *request;
  *request = nullptr;
  if (broken() != nccl::kSuccess) return broken();
  if (count < 1 || count > kMostReceives) {
    return Break(nccl::kInvalidArgument, "irecv takes 1 to 8 buffers");
  }
  if (posted_.size() >= nccl::kMaxRequests) {
    if (!Has(Fault::kErrorWhenFull)) return nccl::kSuccess;
    return Break(nccl::kInternalError, "no room for another request");
  }
  auto made = std::make_unique<ReceiveRequest>();
  made->comm = this;
  for (int i = 0; i < count; ++i) {
    if (!Covers(memory_handles[i], data[i], bytes[i])) {
      return Break(nccl::kInvalidArgument, "irecv into memory not registered");
    }
    made->entries.push_back({static_cast<char*>(data[i]), bytes[i], tags[i]});
  }
  *request = static_cast<Request*>(made.get());
  posted_.push_back(std::move(made));
  if (marked && Has(Fault::kKeepsMarker)) *request = before;
  TakeEarly();
  return broken();
}

ReceiveComm::Entry* ReceiveComm::FindIn(ReceiveRequest* request, int tag) {
  Entry* found = nullptr;
  for (Entry& entry : request->entries) {
    if (entry.taken) continue;
    if (entry.tag != tag && !Has(Fault::kIgnoresTags)) continue;
    found = &entry;
    if (!Has(Fault::kEqualTagsReversed)) return found;
  }
  return found;
}

ReceiveComm::Entry* ReceiveComm::FindEntry(int tag) {
  Entry* found = nullptr;
  for (auto& request : posted_) {
    if (request->taken()) continue;
    Entry* entry = FindIn(request.get(), tag);
    if (entry != nullptr) found = entry;
    if (entry == nullptr && Has(Fault::kRejectsLaterGroups)) {
      Break(nccl::kInternalError, "the front group has no such tag");
      return nullptr;
    }
    if (found != nullptr && !Has(Fault::kSwapsOrder)) return found;
  }
  return found;
}

int ReceiveComm::Take(Frame* frame, Entry* entry) {
  if (frame->header.bytes > entry->room && !Has(Fault::kTruncates)) {
    return Break(nccl::kInvalidUsage, "a message is larger than its buffer");
  }
  entry->taken = true;
  frame->entry = entry;
  return nccl::kSuccess;
}

void ReceiveComm::Finish(Frame* frame) {
  Entry* entry = frame->entry;
  const size_t bytes = std::min<size_t>(frame->header.bytes, entry->room);
  if (!frame->store.empty()) {
    std::memcpy(entry->data, frame->store.data(), bytes);
  }
  if (Has(Fault::kWritesPastEnd)) entry->data[bytes] = 0;
  if (Has(Fault::kCorruptsLarge) && bytes > kLarge) entry->data[bytes - 1] ^= 1;
  entry->got = bytes;
  entry->done = bytes > 0 || !Has(Fault::kEmptyNeverDone);
  ++acks_owed_;
}

void ReceiveComm::TakeEarly() {
  for (auto frame = early_.begin(); frame != early_.end();) {
    Entry* entry = FindEntry((*frame)->header.tag);
    if (broken() != nccl::kSuccess) return;
    if (entry == nullptr) {
      ++frame;
      continue;
    }
    if (Take(frame->get(), entry) != nccl::kSuccess) return;
    Finish(frame->get());
    frame = early_.erase(frame);
  }
}

// The header is complete: where do the bytes go?
int ReceiveComm::StartFrame() {
  Frame& frame = *current_;
  if (frame.header.magic != FrameHeader::kMagic ||
      frame.header.bytes > kMostMessageBytes) {
    return Break(nccl::kInternalError, "what came is no message");
  }
  Entry* entry = FindEntry(frame.header.tag);
  if (broken() != nccl::kSuccess) return broken();
  if (entry != nullptr) {
    if (Take(&frame, entry) != nccl::kSuccess) return broken();
    if (frame.header.bytes <= entry->room) return nccl::kSuccess;
  }
  frame.store.resize(frame.header.bytes);
  return nccl::kSuccess;
}

int ReceiveComm::Ended() {
  if (Has(Fault::kIgnoresEndOfPeer)) return nccl::kSuccess;
  return Break(nccl::kRemoteError, "the sender is gone");
}

bool ReceiveComm::ReadSome(size_t* budget) {
  if (current_ == nullptr) current_ = std::make_unique<Frame>();
  Frame& frame = *current_;
  const size_t header = sizeof(frame.header);
  const bool in_header = frame.got < header;
  char* to = reinterpret_cast<char*>(&frame.header) + frame.got;
  size_t wanted = header - frame.got;
  if (!in_header) {
    const size_t at = frame.got - header;
    to = (frame.store.empty() ? frame.entry->data : frame.store.data()) + at;
    wanted = std::min<size_t>(frame.header.bytes - at, *budget);
  }
  const ssize_t got = recv(fd(), to, wanted, MSG_DONTWAIT);
  if (got <= 0) {
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) Ended();
    return false;
  }
  frame.got += static_cast<size_t>(got);
  *budget -= std::min(*budget, static_cast<size_t>(got));
  if (in_header && frame.got == header) StartFrame();
  if (broken() != nccl::kSuccess) return false;
  if (frame.got < header || !frame.complete()) return true;
  if (frame.entry != nullptr) {
    Finish(&frame);
    current_.reset();
  } else {
    // Its buffer may have been posted meanwhile.
    early_.push_back(std::move(current_));
    TakeEarly();
  }
  return true;
}

void ReceiveComm::SendAcks() {
  const char ack = 1;
  for (; acks_owed_ > 0; --acks_owed_) {
    if (send(fd(), &ack, 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1) return;
  }
}

int ReceiveComm::Progress() {
  if (broken() != nccl::kSuccess) return broken();
  if (Has(Fault::kAcksLate)) SendAcks();
  size_t budget = kBytesPerCall;
  const auto waits = [](const auto& request) { return !request->done(); };
  while (budget > 0 && std::any_of(posted_.begin(), posted_.end(), waits)) {
    if (!ReadSome(&budget)) break;
  }
  return broken();
}

int ReceiveComm::Test(Request* request, int* done, int* sizes) {
  auto* own = static_cast<ReceiveRequest*>(request);
  *done = 0;
  const int result = Progress();
  if (result != nccl::kSuccess && !own->done()) return result;
  if (!own->done()) return nccl::kSuccess;
  *done = 1;
  for (size_t i = 0; i < own->entries.size(); ++i) {
    const Entry& entry = own->entries[i];
    if (sizes == nullptr && !Has(Fault::kWritesSizesAlways)) break;
    sizes[i] =
        static_cast<int>(Has(Fault::kPostedSize) ? entry.room : entry.got);
  }
  posted_.remove_if([&](const auto& other) { return other.get() == own; });
  return nccl::kSuccess;
}

}  // namespace rondo::bad_plugin
