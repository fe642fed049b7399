// The receiving end: messages fill posted buffers by tag, first come first.
//
// A message takes the oldest unfilled buffer of its tag, also in a later group;
// what comes before its buffer is kept until that is posted. Nothing is sent
// back, so that a sender may close as soon as its requests are done.
//
// Thread-safety, ownership: as bad_comm.h says. Failure: kInvalidUsage for a
// message larger than its buffer, kRemoteError when the sender is gone.
//
// Example:
//   comm->Receive(1, &data, &bytes, &tag, &memory_handle, &request);
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "tests/plugin/socket/bad_comm.h"

namespace rondo::bad_plugin {

inline constexpr int kMostReceives = 8;

class ReceiveComm final : public Comm {
 public:
  using Comm::Comm;

  int Receive(int count, void** data, const size_t* bytes, const int* tags,
              void** memory_handles, void** request);
  int Test(Request* request, int* done, int* sizes) override;
  bool idle() const override { return posted_.empty(); }

 private:
  struct Entry {
    char* data;
    size_t room;
    int tag;
    size_t got = 0;
    bool taken = false;
    bool done = false;
  };
  struct ReceiveRequest : Request {
    std::vector<Entry> entries;
    bool done() const;
    bool taken() const;
  };
  // A message on its way in.
  struct Frame {
    FrameHeader header{};
    size_t got = 0;           // header included
    std::vector<char> store;  // unless it goes to its entry directly
    Entry* entry = nullptr;
    bool complete() const { return got == sizeof(header) + header.bytes; }
  };

  int Progress();
  // Whether there may be more to read.
  bool ReadSome(size_t* budget);
  int StartFrame();
  Entry* FindEntry(int tag);
  Entry* FindIn(ReceiveRequest* request, int tag);
  int Take(Frame* frame, Entry* entry);
  void Finish(Frame* frame);
  void TakeEarly();
  void SendAcks();
  int Ended();

  std::list<std::unique_ptr<ReceiveRequest>> posted_;
  std::unique_ptr<Frame> current_;
  std::deque<std::unique_ptr<Frame>> early_;  // complete, without a buffer
  int acks_owed_ = 0;
};

}  // namespace rondo::bad_plugin
