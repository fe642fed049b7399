// Flows: messages of one size through one communicator, kWindow in flight.
//
// They call a plugin as NCCL's progress thread does: post while there is room
// (a null request means: try again later), then test the oldest request; one
// step never waits. A received size that differs from the sent one is an error.
//
// Thread-safety: one thread per flow. Ownership: the flow borrows the table,
// the communicator and the memory; they outlive it, and every request is done
// before it goes, or the communicator is closed next. Failure: errors name the
// call and the plugin's result.
//
// Example:
//   SendFlow flow(target, &watch);
//   flow.Allow(100);
//   while (flow.done() < 100) RONDO_RETURN_IF_ERROR(flow.Step());
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "perf/net/call_watch.h"
#include "plugin/check/net_table.h"
#include "transports/base/status.h"

namespace rondo::perf {

// NCCL's steps: what its network proxy keeps in flight on one communicator.
inline constexpr int kWindow = 8;

// Error of `result`, by `call`.
Status PluginError(const char* call, int result);

struct FlowTarget {
  plugin::NetTable* net = nullptr;
  void* comm = nullptr;
  void* memory_handle = nullptr;
  std::byte* memory = nullptr;
  size_t bytes = 0;  // of a message
  // Message n is at memory + n % slots * bytes.
  int slots = 1;
};

// What sending and receiving have in common: requests, tested oldest first.
class Flow {
 public:
  virtual ~Flow() = default;
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  // `count` more messages may be posted.
  void Allow(int64_t count) { allowed_ += count; }
  int64_t posted() const { return posted_; }
  int64_t done() const { return done_; }

  // Posts what it may and tests the oldest request once.
  Status Step();
  // Only posts, until the window is full or the plugin wants a pause.
  Status Post();

 protected:
  Flow(const FlowTarget& target, CallWatch* watch)
      : target_(target), watch_(watch) {}

  // One call; *request stays null when it must be repeated.
  virtual Status PostOne(std::byte* memory, void** request) = 0;

  FlowTarget target_;
  CallWatch* watch_;

 private:
  Status TestOldest();

  std::array<void*, kWindow> requests_ = {};
  int64_t allowed_ = 0;
  int64_t posted_ = 0;
  int64_t done_ = 0;
};

class SendFlow : public Flow {
 public:
  SendFlow(const FlowTarget& target, CallWatch* watch) : Flow(target, watch) {}

 private:
  Status PostOne(std::byte* memory, void** request) override;
};

class ReceiveFlow : public Flow {
 public:
  ReceiveFlow(const FlowTarget& target, CallWatch* watch)
      : Flow(target, watch) {}

 private:
  Status PostOne(std::byte* memory, void** request) override;
};

}  // namespace rondo::perf
