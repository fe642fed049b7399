// ProgressThread: moves one engine forward while its application computes.
//
// It sleeps while nothing is started, and takes turns with callers in Wait().
//
// Thread-safety: Wake() from any thread. Ownership: the engine must outlive it.
// Failure: none; errors are the engine's.
//
// Example:
//   ProgressThread thread(&engine);
//   engine.Start(...);
//   thread.Wake();
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "collectives/engine/engine.h"

namespace rondo {

class ProgressThread {
 public:
  explicit ProgressThread(Engine* engine);

  // To be called after a call was started.
  void Wake();

 private:
  void Loop(Engine* engine, std::stop_token stop);

  std::mutex mutex_;
  std::condition_variable_any condition_;
  bool awake_ = false;
  std::jthread thread_;  // last: stops before what it uses is gone
};

}  // namespace rondo
