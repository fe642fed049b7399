#include "plugin/check/loaded_plugin.h"

#include <dlfcn.h>

namespace rondo::plugin {

namespace {

constexpr int kOldest = 8;
constexpr int kNewest = 12;

}  // namespace

Result<std::unique_ptr<LoadedPlugin>> LoadedPlugin::Open(
    const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return InvalidArgument("the plugin cannot be loaded: " +
                           std::string(dlerror()));
  }
  std::unique_ptr<LoadedPlugin> plugin(new LoadedPlugin(library));
  for (int version = kOldest; version <= kNewest; ++version) {
    const std::string symbol = "ncclNetPlugin_v" + std::to_string(version);
    const void* table = dlsym(library, symbol.c_str());
    if (table == nullptr) continue;
    plugin->versions_.push_back(version);
    plugin->tables_.push_back(MakeNetTable(version, table));
  }
  if (plugin->versions_.empty()) {
    return InvalidArgument("\"" + path +
                           "\" is no net plugin: it exports none of "
                           "ncclNetPlugin_v8 to ncclNetPlugin_v12");
  }
  return plugin;
}

LoadedPlugin::~LoadedPlugin() {
  tables_.clear();
  dlclose(library_);
}

NetTable* LoadedPlugin::table(int version) const {
  for (const auto& table : tables_) {
    if (table->version() == version) return table.get();
  }
  return nullptr;
}

}  // namespace rondo::plugin
