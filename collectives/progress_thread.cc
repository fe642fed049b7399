#include "collectives/progress_thread.h"

#include "transports/base/clock.h"

namespace rondo {

ProgressThread::ProgressThread(Engine* engine)
    : thread_([this, engine](std::stop_token stop) { Loop(engine, stop); }) {}

void ProgressThread::Wake() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    awake_ = true;
  }
  condition_.notify_one();
}

void ProgressThread::Loop(Engine* engine, std::stop_token stop) {
  Backoff backoff = engine->NewBackoff();
  while (!stop.stop_requested()) {
    if (engine->idle()) {
      std::unique_lock<std::mutex> lock(mutex_);
      condition_.wait(lock, stop, [this] { return awake_; });
      awake_ = false;
    }
    if (engine->Progress()) {
      backoff.Reset();
    } else {
      backoff.Pause();
    }
  }
}

}  // namespace rondo
