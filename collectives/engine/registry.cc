#include "collectives/engine/registry.h"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace rondo {
namespace {

// Never destroyed: a thread may still wait while the process exits.
struct Registry {
  std::shared_mutex mutex;
  std::vector<Engine*> engines;
  // Threads that want to change the list. Readers, who may spin, stand back for
  // them: the mutex alone lets readers that overlap starve a writer.
  std::atomic<int> writers{0};
};

template <typename Change>
void ChangeRegistry(Registry& registry, const Change& change) {
  ++registry.writers;
  {
    std::unique_lock<std::shared_mutex> lock(registry.mutex);
    change(&registry.engines);
  }
  --registry.writers;
}

Registry& TheRegistry() {
  static Registry* registry = new Registry();
  return *registry;
}

}  // namespace

void AddEngine(Engine* engine) {
  ChangeRegistry(TheRegistry(), [engine](std::vector<Engine*>* engines) {
    engines->push_back(engine);
  });
}

void RemoveEngine(Engine* engine) {
  ChangeRegistry(TheRegistry(), [engine](std::vector<Engine*>* engines) {
    std::erase(*engines, engine);
  });
}

bool ProgressAllEngines() {
  Registry& registry = TheRegistry();
  if (registry.writers.load(std::memory_order_relaxed) > 0) return false;
  std::shared_lock<std::shared_mutex> lock(registry.mutex);
  bool moved = false;
  for (Engine* engine : registry.engines) moved |= engine->Progress();
  return moved;
}

void PauseForAllEngines(Backoff* backoff) {
  Registry& registry = TheRegistry();
  if (backoff->sleeps() &&
      registry.writers.load(std::memory_order_relaxed) == 0) {
    std::shared_lock<std::shared_mutex> lock(registry.mutex);
    int busy = 0;
    Engine* last = nullptr;
    for (Engine* engine : registry.engines) {
      if (!engine->may_be_busy()) continue;
      ++busy;
      last = engine;
    }
    if (busy == 1 && last->Sleep()) return;
  }
  backoff->Pause();
}

}  // namespace rondo
