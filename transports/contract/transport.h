// Transport: how bytes move between the ranks of one communicator.
//
// A transport offers tagged messages over one or more lanes. A lane is one
// independent path (with UCX: one context and worker, pinned to one device).
// Messages of different lanes, and of different tags, may overtake each other;
// a message is matched by (source rank, lane, tag) exactly, and two messages
// with an equal triple arrive in the order in which they were sent.
//
// Life: Create (of the implementation) -> address() is exchanged through the
// bootstrap -> Connect(addresses of all ranks) -> Send/Receive/Progress ->
// Disconnect. Set-up of a path may be lazy: the first Send or Receive starts
// it.
//
// Transfers. Send and Receive post an operation and return at once; the caller
// owns the Transfer and its buffer and leaves both alone until done(). A
// transfer may be done() as soon as it was posted (a small send, a message that
// was already here, a refused argument); otherwise only Progress() completes
// it. A send is done when its buffer may be reused, which does not mean that
// the peer has it. A receive is an error when the message is longer than the
// buffer; a shorter one is an error too: both sides know every size here, so a
// difference is a defect or an attack.
//
// Failure. A transfer that cannot complete ends with an error that names the
// peer. FailPeer(rank) ends all transfers with that rank at once, also
// receives, which UCX by itself never does. FailAll is the same for every rank;
// after it no call blocks and destruction is quick.
//
// Thread-safety: one thread at a time is inside a transport; the engine sees to
// it. Distinct transports are independent.
//
// Example:
//   Transfer in, out;
//   transport.Receive(left, /*lane=*/0, tag, incoming, &in);
//   transport.Send(right, /*lane=*/0, tag, outgoing, &out);
//   while (!(in.done() && out.done())) transport.Progress();
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transports/base/status.h"

namespace rondo {

// Tags are numbers of this many bits: the rest of a matching word is for the
// source rank. A larger tag is refused.
inline constexpr int kTagBits = 40;
inline constexpr uint64_t kMaxTag = (uint64_t{1} << kTagBits) - 1;
// Ranks that a transport can tell apart (20 bits of the same word).
inline constexpr int kMaxWorldSize = 1 << 20;

// Where a buffer lives. A transport refuses kinds that it cannot move.
enum class MemoryKind : uint8_t { kHost = 0, kCuda = 1 };

// One operation in flight. Owned by the caller, pinned in memory (the transport
// holds its address) until done().
class Transfer {
 public:
  enum class State : uint8_t { kIdle, kActive, kDone };

  Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  bool active() const { return state_ == State::kActive; }
  bool done() const { return state_ == State::kDone; }
  const Status& status() const { return status_; }  // once done()

  // For transports only.
  void Begin() {
    state_ = State::kActive;
    status_ = Status::Ok();
  }
  void Finish(Status status) {
    status_ = std::move(status);
    state_ = State::kDone;
  }
  void* request = nullptr;  // the transport's own handle

 private:
  State state_ = State::kIdle;
  Status status_;
};

struct ConstBuffer {
  const void* data;
  size_t bytes;
  MemoryKind kind = MemoryKind::kHost;
};

struct MutableBuffer {
  void* data;
  size_t bytes;
  MemoryKind kind = MemoryKind::kHost;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // "ucx 1.13.1, lane 0: all devices, tls posix,sysv,tcp": for people.
  virtual std::string Describe() const = 0;
  virtual int lane_count() const = 0;
  virtual bool Supports(MemoryKind kind) const = 0;

  // What the other ranks need to reach this one: opaque, at most 64 KiB.
  virtual Result<std::string> Address() = 0;
  // `addresses[r]` is rank r's Address(); our own is ignored. Bytes from
  // outside: checked, never trusted.
  virtual Status Connect(int rank, std::vector<std::string> addresses) = 0;

  // Posts; the outcome is in `transfer`, also when posting itself failed.
  // A buffer of 0 bytes is a real, empty message. `peer` is never this rank.
  virtual void Send(int peer, int lane, uint64_t tag, ConstBuffer buffer,
                    Transfer* transfer) = 0;
  virtual void Receive(int peer, int lane, uint64_t tag, MutableBuffer buffer,
                       Transfer* transfer) = 0;

  // Moves things forward without blocking; returns the number of events handled
  // (0: nothing happened).
  virtual int Progress() = 0;

  // Ends every transfer with `peer`, present and future, with `why`.
  virtual void FailPeer(int peer, const Status& why) = 0;
  virtual void FailAll(const Status& why) = 0;

  // Ends in peace: waits for this rank's own transfers and until every peer
  // with which it exchanged messages has called Disconnect as well, so that
  // nobody closes a path that another still reads from. Blocks up to the
  // deadline; ranks may call it at different times, from their own threads.
  // Afterwards only destruction is left. Not needed after FailAll.
  virtual Status Disconnect(class Deadline deadline) = 0;
};

}  // namespace rondo
