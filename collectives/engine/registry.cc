#include "collectives/engine/registry.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace rondo {
namespace {

// Never destroyed: a thread may still wait while the process exits.
struct Registry {
  std::shared_mutex mutex;
  std::vector<Engine*> engines;
};

Registry& TheRegistry() {
  static Registry* registry = new Registry();
  return *registry;
}

}  // namespace

void AddEngine(Engine* engine) {
  Registry& registry = TheRegistry();
  std::unique_lock<std::shared_mutex> lock(registry.mutex);
  registry.engines.push_back(engine);
}

void RemoveEngine(Engine* engine) {
  Registry& registry = TheRegistry();
  std::unique_lock<std::shared_mutex> lock(registry.mutex);
  std::erase(registry.engines, engine);
}

bool ProgressAllEngines() {
  Registry& registry = TheRegistry();
  std::shared_lock<std::shared_mutex> lock(registry.mutex);
  bool moved = false;
  for (Engine* engine : registry.engines) moved |= engine->Progress();
  return moved;
}

}  // namespace rondo
