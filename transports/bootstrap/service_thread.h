// The threads that serve the control channel, and how to wake them.
//
// A service thread takes no signals: the user's handlers run on the user's own
// threads. A Waker ends a poll() from another thread.
//
// Thread-safety: Signal may be called by any thread.
// Ownership: the caller joins the thread; a Waker owns its descriptor.
// Failure: no thread or descriptor left is kResourceExhausted or kSystem.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(Waker waker, Waker::Create());
//   RONDO_ASSIGN_OR_RETURN(std::thread thread,
//                          StartServiceThread("rondo-coord", [this] { Run();
//                          }));
#pragma once

#include <functional>
#include <thread>

#include "transports/base/status.h"
#include "transports/bootstrap/file_descriptor.h"

namespace rondo {

class Waker {
 public:
  static Result<Waker> Create();
  int fd() const { return event_.get(); }
  void Signal() const;
  void Drain() const;

 private:
  explicit Waker(FileDescriptor event) : event_(std::move(event)) {}
  FileDescriptor event_;
};

// `name` shows in top and gdb; at most 15 characters.
Result<std::thread> StartServiceThread(const char* name,
                                       std::function<void()> body);

}  // namespace rondo
