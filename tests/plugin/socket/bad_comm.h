// What both ends of a connection of the bad plugin have: a socket, registered
// memory, requests, and the way in which they fail.
//
// Thread-safety: the service and the progress thread may call at once; each
// call holds the communicator's mutex. Ownership: a communicator owns its
// socket, its requests and what is still registered when it is closed.
// Failure: NCCL's results; the first one stays, with one warning.
//
// Example:
//   std::lock_guard<std::mutex> lock(comm->mutex());
//   return comm->Register(data, bytes, memory_handle);
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "plugin/abi/net_types.h"

namespace rondo::bad_plugin {

// One warning through NCCL's logger, when there is one.
void SetLogger(nccl::Logger logger);
void Warn(const char* text);

// What stands before every message on the wire.
struct FrameHeader {
  static constexpr uint32_t kMagic = 0x0badf00d;
  uint32_t magic;
  int32_t tag;
  uint64_t bytes;
};

// What one call moves at most, so that none takes long.
inline constexpr size_t kBytesPerCall = 256 << 10;

class Comm;

struct Request {
  virtual ~Request() = default;
  Comm* comm = nullptr;  // null: done already when it was made
};

class Comm {
 public:
  explicit Comm(int fd) : fd_(fd) {}
  virtual ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  std::mutex& mutex() { return mutex_; }
  int fd() const { return fd_; }
  int broken() const { return broken_; }
  virtual bool idle() const = 0;
  virtual int Test(Request* request, int* done, int* sizes) = 0;

  int Register(void* data, size_t bytes, void** memory_handle);
  int Deregister(void* memory_handle);
  // Whether the range lies in what that handle stands for.
  bool Covers(void* memory_handle, const void* data, size_t bytes) const;

 protected:
  // From now on every call returns this.
  int Break(int result, const char* why);

 private:
  struct Range {
    uintptr_t begin;
    size_t bytes;
  };

  std::mutex mutex_;
  int fd_;
  int broken_ = nccl::kSuccess;
  // Keys are the handles: numbers that are never used again.
  uintptr_t last_handle_ = 0;
  std::map<uintptr_t, Range> ranges_;
};

}  // namespace rondo::bad_plugin
