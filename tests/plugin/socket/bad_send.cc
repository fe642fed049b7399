#include "tests/plugin/socket/bad_send.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "tests/plugin/socket/faults.h"
#include "transports/base/clock.h"

namespace rondo::bad_plugin {
namespace {

constexpr size_t kMostInFlight = nccl::kMaxRequests * 8;
constexpr int64_t kIdleFaultNs = 500'000'000;

}  // namespace

SendComm::SendComm(int fd) : Comm(fd), last_progress_ns_(NowNs()) {}

SendComm::~SendComm() = default;

int SendComm::Send(const void* data, size_t bytes, int tag, void* memory_handle,
                   void** request) {
  if (Has(Fault::kLeavesRequest) && !put_off_once_) {
    put_off_once_ = true;
    return nccl::kSuccess;
  }
  *request = nullptr;
  if (broken() != nccl::kSuccess) return broken();
  if (!Covers(memory_handle, data, bytes)) {
    return Break(nccl::kInvalidArgument, "isend of memory not registered");
  }
  if (in_flight_.size() >= kMostInFlight) return nccl::kSuccess;
  auto message = std::make_shared<Message>();
  message->header = {FrameHeader::kMagic, tag, bytes};
  message->data = static_cast<const char*>(data);
  if (Has(Fault::kSendsLater)) {
    message->copy.assign(message->data, message->data + bytes);
    message->data = message->copy.data();
  }
  if (queue_.empty()) last_progress_ns_ = NowNs();
  queue_.push_back(message);
  auto made = std::make_unique<SendRequest>();
  made->comm = this;
  made->message = std::move(message);
  *request = static_cast<Request*>(made.get());
  in_flight_.push_back(std::move(made));
  return nccl::kSuccess;
}

bool SendComm::SendSome(Message* message, size_t* budget) {
  const size_t header = sizeof(message->header);
  const size_t into_header = std::min(message->sent, header);
  const size_t into_data = message->sent - into_header;
  const size_t payload =
      std::min<size_t>(message->header.bytes - into_data, *budget);
  iovec parts[] = {{reinterpret_cast<char*>(&message->header) + into_header,
                    header - into_header},
                   {const_cast<char*>(message->data) + into_data, payload}};
  msghdr all{};
  all.msg_iov = parts;
  all.msg_iovlen = 2;
  const ssize_t sent = sendmsg(fd(), &all, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) {
    if (errno == EAGAIN || errno == EINTR) return false;
    if (Has(Fault::kIgnoresEndOfPeer)) return false;
    if (Has(Fault::kDeadSendSucceeds)) {
      message->sent = header + message->header.bytes;
      return true;
    }
    Break(nccl::kRemoteError, "the receiver is gone");
    return false;
  }
  message->sent += static_cast<size_t>(sent);
  *budget -= std::min(*budget, static_cast<size_t>(sent));
  last_progress_ns_ = NowNs();
  return true;
}

void SendComm::Sent() {
  if (Has(Fault::kAcksLate)) {
    unacknowledged_.push_back(queue_.front());
  } else {
    queue_.front()->done = true;
  }
  queue_.pop_front();
}

void SendComm::TakeAcks() {
  char acks[64];
  const ssize_t got = recv(fd(), acks, sizeof(acks), MSG_DONTWAIT);
  for (ssize_t i = 0; i < got && !unacknowledged_.empty(); ++i) {
    unacknowledged_.front()->done = true;
    unacknowledged_.pop_front();
  }
}

int SendComm::Progress() {
  if (broken() != nccl::kSuccess) return broken();
  if (Has(Fault::kAcksLate)) TakeAcks();
  size_t budget = kBytesPerCall;
  const size_t kept_back = Has(Fault::kSendsLater) ? 1 : 0;
  while (queue_.size() > kept_back && budget > 0) {
    Message& front = *queue_.front();
    if (!SendSome(&front, &budget)) break;
    if (front.sent == sizeof(front.header) + front.header.bytes) Sent();
  }
  if (Has(Fault::kIdleIsDeath) && !queue_.empty() &&
      NowNs() - last_progress_ns_ > kIdleFaultNs) {
    return Break(nccl::kRemoteError, "the receiver takes nothing");
  }
  return broken();
}

int SendComm::Test(Request* request, int* done, int* sizes) {
  auto* own = static_cast<SendRequest*>(request);
  *done = 0;
  const int result = Progress();
  if (result != nccl::kSuccess) return result;
  if (!own->message->done && !Has(Fault::kSendsLater)) return nccl::kSuccess;
  *done = 1;
  if (sizes != nullptr || Has(Fault::kWritesSizesAlways)) {
    sizes[0] = static_cast<int>(own->message->header.bytes);
  }
  std::erase_if(in_flight_,
                [&](const auto& other) { return other.get() == own; });
  return nccl::kSuccess;
}

}  // namespace rondo::bad_plugin
