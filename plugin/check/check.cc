#include "plugin/check/check.h"

#include <cstdarg>
#include <cstdio>
#include <mutex>

namespace rondo::plugin {
namespace {

std::mutex log_mutex;
std::vector<std::string> warnings;

void KeepWarning(int level, unsigned long /*flags*/,  // NOLINT
                 const char* /*file*/, int /*line*/, const char* format, ...) {
  if (level > nccl::kLogWarn) return;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  std::lock_guard<std::mutex> lock(log_mutex);
  warnings.emplace_back(text);
}

}  // namespace

nccl::Logger CheckLogger() { return &KeepWarning; }

std::vector<std::string> TakeWarnings() {
  std::lock_guard<std::mutex> lock(log_mutex);
  return std::exchange(warnings, {});
}

Status Succeeds(int result, const char* what) {
  return Expect(result == nccl::kSuccess, "{} returned {} ({})", what, result,
                nccl::ResultName(result));
}

Status FailsWell(int result, const char* what) {
  return Expect(result > nccl::kSuccess && result < nccl::kInProgress,
                "{} returned {} ({}) where an error was due", what, result,
                nccl::ResultName(result));
}

Status Skip(std::string reason) {
  return Status(Code::kNotSupported, std::move(reason));
}

Result<std::unique_ptr<PluginSide>> PluginSide::Open(const CheckSetup& setup) {
  std::unique_ptr<PluginSide> side(new PluginSide());
  RONDO_ASSIGN_OR_RETURN(side->plugin_, LoadedPlugin::Open(setup.path));
  side->net_ = side->plugin_->table(setup.version);
  side->device_ = setup.device;
  RONDO_RETURN_IF_ERROR(
      Succeeds(side->net_->Init(&side->context_, 1, CheckLogger()), "init"));
  int count = 0;
  RONDO_RETURN_IF_ERROR(Succeeds(side->net_->Devices(&count), "devices"));
  RONDO_RETURN_IF_ERROR(Expect(setup.device < count,
                               "device {} was asked for; there are {}",
                               setup.device, count));
  RONDO_RETURN_IF_ERROR(
      Succeeds(side->net_->GetProperties(setup.device, &side->properties_),
               "getProperties"));
  return side;
}

PluginSide::~PluginSide() {
  if (context_ != nullptr) net_->Finalize(context_);
}

}  // namespace rondo::plugin
