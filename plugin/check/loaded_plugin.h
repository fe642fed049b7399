// LoadedPlugin: any net plugin, opened as NCCL opens it.
//
// The library is opened by path or by name (dlopen's rules) with RTLD_NOW and
// RTLD_LOCAL; closing it, which is what NCCL does after the last communicator,
// happens with destruction.
//
// Thread-safety: open and close from one thread. Ownership: tables point into
// the library and end with it. Failure: the loader's own words, or which
// symbols were looked for and are not there.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto plugin, LoadedPlugin::Open(path));
//   for (int version : plugin->versions()) Drive(*plugin->table(version));
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plugin/check/net_table.h"
#include "transports/base/status.h"

namespace rondo::plugin {

class LoadedPlugin {
 public:
  static Result<std::unique_ptr<LoadedPlugin>> Open(const std::string& path);
  ~LoadedPlugin();
  LoadedPlugin(const LoadedPlugin&) = delete;
  LoadedPlugin& operator=(const LoadedPlugin&) = delete;

  // Of 8 to 12, ascending; never empty.
  const std::vector<int>& versions() const { return versions_; }
  // Null when the plugin does not export that version.
  NetTable* table(int version) const;
  // The newest that it exports: what NCCL would use.
  NetTable* newest() const { return tables_.back().get(); }

 private:
  explicit LoadedPlugin(void* library) : library_(library) {}

  void* library_;
  std::vector<int> versions_;
  std::vector<std::unique_ptr<NetTable>> tables_;
};

}  // namespace rondo::plugin
