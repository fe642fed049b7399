// Connection: frames over one non-blocking socket.
//
// Frames are queued whole and sealed only when they are about to be written, so
// that one large payload can wait in many queues at the cost of one.
//
// Thread-safety: one thread at a time. Ownership: owns the socket.
// Failure: an error of Flush, Fill or Next means: close the connection.
//
// Example:
//   connection.Queue(MessageType::kHeartbeat, "");
//   RONDO_RETURN_IF_ERROR(connection.Flush());
//   RONDO_ASSIGN_OR_RETURN(bool open, connection.Fill());
//   while (true) {
//     RONDO_ASSIGN_OR_RETURN(auto frame, connection.Next());
//     if (!frame) break;
//     Handle(*frame);
//   }
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "transports/base/clock.h"
#include "transports/base/status.h"
#include "transports/bootstrap/file_descriptor.h"
#include "transports/bootstrap/message.h"

namespace rondo {

class Connection {
 public:
  explicit Connection(FileDescriptor socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }

  // Tags what is queued from now on; what was queued before stays untagged.
  Status SecureSending(const Digest& key);
  // Demands tags of what is received from now on.
  Status SecureReceiving(const Digest& key) { return opener_.Secure(key); }

  void Queue(MessageType type, std::shared_ptr<const std::string> payload);
  void Queue(MessageType type, std::string payload);
  bool wants_write() const { return !out_.empty() || !queue_.empty(); }
  // Writes what the socket takes, about one large frame at most.
  Status Flush();

  // Reads what has arrived, a bounded part; false: the peer has closed.
  Result<bool> Fill();
  // The next whole frame; its views live until the next call of Next or Fill.
  Result<std::optional<FrameView>> Next();

  // Tells the peer that nothing more comes.
  void ShutDownSending();

 private:
  struct Queued {
    MessageType type;
    std::shared_ptr<const std::string> payload;
  };
  Status SealNext();

  FileDescriptor socket_;
  FrameSealer sealer_;
  FrameOpener opener_;
  std::deque<Queued> queue_;
  std::string out_;
  size_t written_ = 0;  // of out_
  std::string in_;
  size_t consumed_ = 0;  // of in_
};

// Flushes and reads until a whole frame is here. Its views live until the next
// use of the connection.
Result<FrameView> AwaitFrame(Connection* connection, Deadline deadline);

}  // namespace rondo
