// Connections for checks: set up, sent through and waited on as NCCL does.
//
// Thread-safety: one thread at a time. Ownership: closes what is open.
// Failure: what the plugin did wrong, with sizes and tags.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
//   RONDO_RETURN_IF_ERROR(both.Move(4096, /*tag=*/7));
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "plugin/check/check.h"

namespace rondo::plugin {

using HandleBytes = std::array<char, nccl::kHandleBytes>;

// How long anything that should happen may take.
inline constexpr int64_t kPatienceMs = 10'000;

// Closes a communicator or listener when it goes.
class OpenComm {
 public:
  enum class Kind { kListen, kSend, kReceive };
  OpenComm(NetTable* net, Kind kind) : net_(net), kind_(kind) {}
  OpenComm(OpenComm&& other) noexcept
      : net_(other.net_), kind_(other.kind_), comm_(other.Release()) {}
  OpenComm& operator=(OpenComm&&) = delete;
  ~OpenComm() { Close(); }

  void* get() const { return comm_; }
  void** out() { return &comm_; }
  int Close();
  void* Release();

 private:
  NetTable* net_;
  Kind kind_;
  void* comm_ = nullptr;
};

// Memory registered with one communicator, between guard bytes.
class Memory {
 public:
  Memory(NetTable* net, size_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Status Register(void* comm);
  // The communicator is closed: its handles are no longer to be ended.
  void Forget() { handle_ = nullptr; }

  char* data() { return bytes_.data() + kGuardBytes; }
  size_t size() const { return bytes_.size() - 2 * kGuardBytes; }
  void* handle() const { return handle_; }
  // Byte i of message `number`.
  static char Pattern(size_t number, size_t i);
  void Fill(size_t number);
  // The first `bytes` are that message, the rest and the guards untouched.
  Status Verify(size_t number, size_t bytes);

 private:
  static constexpr size_t kGuardBytes = 64;
  static constexpr char kUntouched = 0x5c;

  NetTable* net_;
  void* comm_ = nullptr;
  void* handle_ = nullptr;
  std::vector<char> bytes_;
};

// Both ends in this process.
struct Connection {
  static Result<Connection> Open(const PluginSide& side);
  explicit Connection(NetTable* table)
      : net(table),
        send(table, OpenComm::Kind::kSend),
        receive(table, OpenComm::Kind::kReceive) {}

  // One message of `bytes` into a buffer of `room`, checked.
  Status Move(size_t bytes, size_t room, int tag);

  NetTable* net;
  OpenComm send;
  OpenComm receive;
};

// Drives connect or accept once; null in *comm means not yet.
Status StepConnect(const PluginSide& side, HandleBytes* handle, OpenComm* comm);
Status StepAccept(const PluginSide& side, const OpenComm& listen,
                  OpenComm* comm);

// Posts one receive or send, trying again while the plugin says "not yet".
Result<void*> PostReceive(NetTable& net, void* comm, Memory* memory, int tag);
// A request in flight, and a place for its sizes if they are wanted.
struct Awaited {
  void* request;
  int* sizes = nullptr;
  int count = 1;
  bool done = false;
};
// Polls `meanwhile` too: a receiver with requests in flight makes calls.
Result<void*> PostSend(NetTable& net, void* comm, Memory* memory, size_t bytes,
                       int tag, std::vector<Awaited>* meanwhile);
// Tests each that is not done once.
Status Poll(NetTable& net, std::vector<Awaited>* requests);
// Tests until all are done.
Status AwaitAll(NetTable& net, std::vector<Awaited> requests);

}  // namespace rondo::plugin
