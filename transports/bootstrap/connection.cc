#include "transports/bootstrap/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include "transports/bootstrap/network.h"

namespace rondo {

namespace {

constexpr size_t kReadBytes = size_t{64} << 10;
// Written per call of Flush before others get their turn.
constexpr size_t kFlushBytes = size_t{512} << 10;

}  // namespace

Status Connection::SecureSending(const Digest& key) {
  while (!queue_.empty()) RONDO_RETURN_IF_ERROR(SealNext());
  return sealer_.Secure(key);
}

void Connection::Queue(MessageType type,
                       std::shared_ptr<const std::string> payload) {
  queue_.push_back({type, std::move(payload)});
}

void Connection::Queue(MessageType type, std::string payload) {
  Queue(type, std::make_shared<const std::string>(std::move(payload)));
}

Status Connection::SealNext() {
  const Queued next = std::move(queue_.front());
  queue_.pop_front();
  RONDO_ASSIGN_OR_RETURN(std::string sealed,
                         sealer_.Seal(next.type, *next.payload));
  out_ += sealed;
  return Status::Ok();
}

Status Connection::Flush() {
  size_t total = 0;
  while (wants_write() && total < kFlushBytes) {
    if (out_.empty()) RONDO_RETURN_IF_ERROR(SealNext());
    const IoResult io = WriteSome(socket_.get(), out_.data() + written_,
                                  out_.size() - written_);
    if (io.state == IoResult::State::kWouldBlock) return Status::Ok();
    if (io.state != IoResult::State::kDone) {
      return SystemError("send", io.error);
    }
    written_ += io.bytes;
    total += io.bytes;
    if (written_ == out_.size()) {
      out_.clear();
      written_ = 0;
    }
  }
  return Status::Ok();
}

Result<bool> Connection::Fill() {
  in_.erase(0, consumed_);
  consumed_ = 0;
  const size_t before = in_.size();
  in_.resize(before + kReadBytes);
  const IoResult io = ReadSome(socket_.get(), in_.data() + before, kReadBytes);
  in_.resize(before + io.bytes);
  if (io.state == IoResult::State::kFailed) {
    return SystemError("receive", io.error);
  }
  return io.state != IoResult::State::kClosed;
}

Result<std::optional<FrameView>> Connection::Next() {
  const std::string_view rest = std::string_view(in_).substr(consumed_);
  RONDO_ASSIGN_OR_RETURN(std::optional<FrameView> frame, opener_.Open(rest));
  if (frame) consumed_ += frame->frame_bytes;
  return frame;
}

void Connection::ShutDownSending() { shutdown(socket_.get(), SHUT_WR); }

Result<FrameView> AwaitFrame(Connection* connection, Deadline deadline) {
  while (true) {
    RONDO_ASSIGN_OR_RETURN(auto frame, connection->Next());
    if (frame) return *frame;
    RONDO_RETURN_IF_ERROR(connection->Flush());
    const short events =
        connection->wants_write() ? (POLLIN | POLLOUT) : POLLIN;
    RONDO_RETURN_IF_ERROR(WaitReady(connection->fd(), events, deadline));
    RONDO_ASSIGN_OR_RETURN(bool open, connection->Fill());
    if (!open) return Status(Code::kTransport, "the peer closed");
  }
}

}  // namespace rondo
