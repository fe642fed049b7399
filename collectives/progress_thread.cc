#include "collectives/progress_thread.h"

#include "transports/base/clock.h"

namespace rondo {

ProgressThread::ProgressThread(Engine* engine, int ranks_on_host)
    : thread_([this, engine, ranks_on_host](std::stop_token stop) {
        Loop(engine, ranks_on_host, stop);
      }) {}

void ProgressThread::Wake() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    awake_ = true;
  }
  condition_.notify_one();
}

void ProgressThread::Loop(Engine* engine, int ranks_on_host,
                          std::stop_token stop) {
  Backoff backoff(ranks_on_host);
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
