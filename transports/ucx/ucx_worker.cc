#include "transports/ucx/ucx_worker.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "transports/ucx/ucx_tls.h"

namespace rondo {

namespace {

Code CodeOf(ucs_status_t status) {
  switch (status) {
    case UCS_ERR_CONNECTION_RESET:
    case UCS_ERR_ENDPOINT_TIMEOUT:
    case UCS_ERR_NOT_CONNECTED:
    case UCS_ERR_REJECTED:
      return Code::kRemoteDead;
    case UCS_ERR_NO_MEMORY:
    case UCS_ERR_NO_RESOURCE:
      return Code::kResourceExhausted;
    case UCS_ERR_CANCELED:
      return Code::kAborted;
    default:
      return Code::kTransport;
  }
}

struct ReleaseConfig {
  void operator()(ucp_config_t* config) const { ucp_config_release(config); }
};
using Config = std::unique_ptr<ucp_config_t, ReleaseConfig>;

bool UserSet(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

Status Modify(ucp_config_t* config, const char* name,
              const std::string& value) {
  const ucs_status_t status = ucp_config_modify(config, name, value.c_str());
  if (status == UCS_OK) return Status::Ok();
  return InvalidArgument("UCX does not accept \"" + value + "\" for " + name +
                         ": " + ucs_status_string(status));
}

Result<Config> MakeConfig(const UcxWorkerOptions& options) {
  ucp_config_t* raw = nullptr;
  const ucs_status_t status = ucp_config_read(nullptr, nullptr, &raw);
  if (status != UCS_OK) return UcxError("reading UCX's configuration", status);
  Config config(raw);
  if (!options.transports.empty()) {
    RONDO_RETURN_IF_ERROR(Modify(raw, "TLS", options.transports));
  }
  if (!options.device.empty()) {
    RONDO_RETURN_IF_ERROR(Modify(raw, "NET_DEVICES", options.device));
  }
  // Without it, peer error handling makes UCX leave shared memory for loopback
  // TCP. Not set where nothing reads it: UCX 1.13 then prints a warning.
  if (AllowsMappedSegments(options.transports) &&
      !UserSet({"UCX_MM_ERROR_HANDLING", "UCX_POSIX_ERROR_HANDLING",
                "UCX_SYSV_ERROR_HANDLING", "UCX_XPMEM_ERROR_HANDLING"})) {
    RONDO_RETURN_IF_ERROR(Modify(raw, "MM_ERROR_HANDLING", "y"));
  }
  for (const auto& [name, value] : options.defaults) {
    if (UserSet({("UCX_" + name).c_str()})) continue;
    RONDO_RETURN_IF_ERROR(Modify(raw, name.c_str(), value));
  }
  // UCX_HOME and the like are no mistakes, and the warning goes to stdout.
  if (!UserSet({"UCX_WARN_UNUSED_ENV_VARS"})) {
    RONDO_RETURN_IF_ERROR(Modify(raw, "WARN_UNUSED_ENV_VARS", "n"));
  }
  return config;
}

// UCX tells its resources only in print: lines such as
// "#  resource 1  :  md 0  dev 1  flags -- tcp/eth0".
std::vector<std::string> ReadResources(ucp_context_h context) {
  char* text = nullptr;
  size_t bytes = 0;
  std::FILE* stream = open_memstream(&text, &bytes);
  if (stream == nullptr) return {};
  ucp_context_print_info(context, stream);
  std::fclose(stream);
  std::string_view rest(text, bytes);
  std::vector<std::string> resources;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
    const size_t word = line.rfind(' ') + 1;
    if (line.find(" resource ") == std::string_view::npos) continue;
    if (line.find('/', word) == std::string_view::npos) continue;
    resources.emplace_back(line.substr(word));
  }
  std::free(text);
  return resources;
}

bool HasDevice(const std::vector<std::string>& resources,
               const std::string& device) {
  for (const std::string& resource : resources) {
    if (resource.substr(resource.find('/') + 1) == device) return true;
  }
  return false;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text.empty() ? "none" : text;
}

}  // namespace

bool MayCloseConnectingEndpoints() {
  unsigned major = 0, minor = 0, patch = 0;
  ucp_get_version(&major, &minor, &patch);
  return major > 1 || minor > 13;
}

Status UcxError(const std::string& what, ucs_status_t status) {
  return Status(CodeOf(status),
                what + ": UCX: " + std::string(ucs_status_string(status)));
}

Status UcxContext::OpenAny(const UcxWorkerOptions& options) {
  RONDO_ASSIGN_OR_RETURN(Config config, MakeConfig(options));
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE;
  params.features = options.features;
  params.request_size = options.request_bytes;
  if (options.request_init != nullptr) {
    params.field_mask |= UCP_PARAM_FIELD_REQUEST_INIT;
    params.request_init = options.request_init;
  }
  if (options.shared) {
    params.field_mask |= UCP_PARAM_FIELD_MT_WORKERS_SHARED;
    params.mt_workers_shared = 1;
  }
  const ucs_status_t status = ucp_init(&params, config.get(), &context_);
  if (status != UCS_OK) {
    return UcxError("opening UCX on " +
                        (options.device.empty() ? "all devices"
                                                : "device " + options.device) +
                        " with transports \"" + options.transports + "\"",
                    status);
  }
  resources_ = ReadResources(context_);
  return Status::Ok();
}

Result<std::shared_ptr<UcxContext>> UcxContext::Open(
    const UcxWorkerOptions& options) {
  std::shared_ptr<UcxContext> context(new UcxContext());
  RONDO_RETURN_IF_ERROR(context->OpenAny(options));
  // UCX only prints a warning when it does not have the device.
  if (!options.device.empty() &&
      !HasDevice(context->resources_, options.device)) {
    UcxWorkerOptions anything;
    anything.transports = options.transports;
    UcxContext all;
    RONDO_RETURN_IF_ERROR(all.OpenAny(anything));
    return InvalidArgument("UCX has no device \"" + options.device +
                           "\" with these transports; it has " +
                           Join(all.resources_));
  }
  return context;
}

UcxContext::~UcxContext() {
  if (context_ != nullptr) ucp_cleanup(context_);
}

Result<std::unique_ptr<UcxWorker>> UcxWorker::Open(
    const UcxWorkerOptions& options) {
  RONDO_ASSIGN_OR_RETURN(auto context, UcxContext::Open(options));
  return OpenOn(std::move(context));
}

Result<std::unique_ptr<UcxWorker>> UcxWorker::OpenOn(
    std::shared_ptr<UcxContext> context) {
  std::unique_ptr<UcxWorker> worker(new UcxWorker(std::move(context)));
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  const ucs_status_t status =
      ucp_worker_create(worker->context(), &params, &worker->worker_);
  if (status == UCS_OK) return worker;
  return UcxError("creating a UCX worker on " + Join(worker->resources()),
                  status);
}

UcxWorker::~UcxWorker() {
  if (worker_ != nullptr) ucp_worker_destroy(worker_);
}

void UcxWorker::Abandon() {
  // Not lost, but left: UCX's own threads may still look at it.
  static std::mutex mutex;
  static auto* const abandoned =
      new std::vector<std::pair<ucp_worker_h, std::shared_ptr<UcxContext>>>;
  std::lock_guard<std::mutex> lock(mutex);
  abandoned->emplace_back(std::exchange(worker_, nullptr), context_);
}

Result<std::string> UcxWorker::Address() const {
  ucp_address_t* address = nullptr;
  size_t bytes = 0;
  const ucs_status_t status = ucp_worker_get_address(worker_, &address, &bytes);
  if (status != UCS_OK) return UcxError("reading a worker's address", status);
  std::string copy(reinterpret_cast<const char*>(address), bytes);
  ucp_worker_release_address(worker_, address);
  return copy;
}

bool UcxContext::Supports(MemoryKind kind) const {
  if (kind == MemoryKind::kHost) return true;
  ucp_context_attr_t attributes{};
  attributes.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
  if (ucp_context_query(context_, &attributes) != UCS_OK) return false;
  return kind == MemoryKind::kCuda &&
         (attributes.memory_types & UCS_BIT(UCS_MEMORY_TYPE_CUDA)) != 0;
}

}  // namespace rondo
