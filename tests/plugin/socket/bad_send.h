// The sending end: messages go into the socket in the order of isend.
//
// A request is done when the kernel has all its bytes, which then arrive
// without another call of this side. Sockets are small, so that a large message
// needs its receiver.
//
// Thread-safety, ownership: as bad_comm.h says. Failure: kRemoteError when the
// other side is gone.
//
// Example:
//   comm->Send(data, bytes, tag, memory_handle, &request);
//   comm->Test(request, &done, nullptr);
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "tests/plugin/socket/bad_comm.h"

namespace rondo::bad_plugin {

class SendComm final : public Comm {
 public:
  explicit SendComm(int fd);
  ~SendComm() override;

  int Send(const void* data, size_t bytes, int tag, void* memory_handle,
           void** request);
  int Test(Request* request, int* done, int* sizes) override;
  bool idle() const override { return in_flight_.empty(); }

 private:
  struct Message {
    FrameHeader header;
    const char* data;
    std::vector<char> copy;  // for a fault: sent after its request is done
    size_t sent = 0;         // header included
    bool done = false;
  };
  struct SendRequest : Request {
    std::shared_ptr<Message> message;
  };

  int Progress();
  // Whether the socket takes more.
  bool SendSome(Message* message, size_t* budget);
  void Sent();
  void TakeAcks();

  std::deque<std::shared_ptr<Message>> queue_;
  std::deque<std::shared_ptr<Message>> unacknowledged_;
  std::vector<std::unique_ptr<SendRequest>> in_flight_;
  int64_t last_progress_ns_;
  bool put_off_once_ = false;
};

}  // namespace rondo::bad_plugin
