// One check of a net plugin, and what it works with.
//
// A check runs in a process of its own that has not loaded the plugin yet; so
// it may fork a peer first, crash, hang or leak without touching another check.
// It returns what is wrong in words that the plugin's author can act on: what
// was expected, what was seen.
//
// Thread-safety: one thread, unless a check starts more. Ownership: the setup
// belongs to the runner. Failure: kNotSupported means skipped, with the reason;
// any other error is a finding.
//
// Example:
//   Status CheckDevices(const CheckSetup& setup) {
//     RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
//     int count = 0;
//     RONDO_RETURN_IF_ERROR(Succeeds(side->net().Devices(&count), "devices"));
//     return Expect(count > 0, "devices() says {}", count);
//   }
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "plugin/check/loaded_plugin.h"
#include "transports/base/status.h"

namespace rondo::plugin {

struct CheckSetup {
  std::string path;
  int version = 0;
  int device = 0;
  // NAME=VALUE that makes init() fail; empty when none is known.
  std::string failing_environment;
};

struct Check {
  const char* name;
  const char* why;  // what NCCL relies on
  Status (*run)(const CheckSetup& setup);
};

// All of them, the most important first.
const std::vector<Check>& AllChecks();

// An error with that text unless `holds`.
template <typename... Arguments>
Status Expect(bool holds, fmt::format_string<Arguments...> text,
              Arguments&&... arguments) {
  if (holds) return Status::Ok();
  return Status(Code::kMismatch,
                fmt::format(text, std::forward<Arguments>(arguments)...));
}

// An error unless the plugin's result is success.
Status Succeeds(int result, const char* what);
// An error unless it is one of the errors.
Status FailsWell(int result, const char* what);
// The reason for skipping.
Status Skip(std::string reason);

// What the plugin warned of in this process, newest last.
std::vector<std::string> TakeWarnings();

// A plugin that is loaded and initialised, in this process.
class PluginSide {
 public:
  static Result<std::unique_ptr<PluginSide>> Open(const CheckSetup& setup);
  ~PluginSide();

  NetTable& net() const { return *net_; }
  void* context() const { return context_; }
  int device() const { return device_; }
  const nccl::PropertiesV12& properties() const { return properties_; }

 private:
  PluginSide() = default;

  std::unique_ptr<LoadedPlugin> plugin_;
  NetTable* net_ = nullptr;
  void* context_ = nullptr;
  int device_ = 0;
  nccl::PropertiesV12 properties_{};
};

// The logger that plugins are given.
nccl::Logger CheckLogger();

}  // namespace rondo::plugin
