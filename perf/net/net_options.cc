#include "perf/net/net_options.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "fmt/format.h"
#include "perf/cli/options.h"
#include "perf/cli/text_file.h"
#include "transports/base/size_text.h"

namespace rondo::perf {
namespace {

constexpr char kOwnPlugin[] = "libnccl-net-rondo.so";
// Beside the program, in a build tree, and in an installation.
constexpr const char* kNearby[] = {"", "../plugin/", "../lib/"};
// Versions before 9 count bytes in an int and get no larger calls.
constexpr int64_t kMostBytes = int64_t{1} << 30;
constexpr SweepOptions kBandwidthSweep = {.min_bytes = 1 << 10,
                                          .max_bytes = 64 << 20};
constexpr SweepOptions kLatencySweep = {.min_bytes = 8, .max_bytes = 4 << 10};

bool GivenSizes(const NetOptions& options) {
  return options.sweep.min_bytes != 0 || options.sweep.max_bytes != 0;
}

std::vector<size_t> Sizes(const NetOptions& options, SweepOptions sweep) {
  if (GivenSizes(options)) sweep = options.sweep;
  sweep.factor = options.sweep.factor;
  return SweepCounts(sweep, 1, 1);
}

bool IsIndex(const std::string& device) {
  return std::all_of(device.begin(), device.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Empty when it is nowhere near.
std::string NearbyPlugin(const std::string& own_folder) {
  for (const char* where : kNearby) {
    const std::string path = own_folder + "/" + where + kOwnPlugin;
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return "";
}

void AddPluginOptions(CLI::App* app, NetOptions* options) {
  app->add_option("--plugin", options->plugin,
                  "the net plugin, by path or by the name that the dynamic "
                  "loader finds")
      ->type_name("PATH")
      ->default_str(kOwnPlugin);
  AddNumberOption(app, "--version", "of the plugin's interface", 8, 12,
                  &options->version)
      ->default_str("the newest that it exports");
  app->add_option("--device", options->device, "of the plugin: index or name")
      ->type_name("N|NAME")
      ->default_str(options->device);
  AddSwitchOption(app, "--raw", "compare with ucx_perftest: 0 or 1",
                  &options->raw);
  app->add_option("--ucx-tls", options->ucx_tls,
                  "transport of both: UCX_TLS of ucx_perftest, and "
                  "RONDO_UCX_TLS of the plugin unless it is set already")
      ->type_name("NAMES")
      ->default_str(options->ucx_tls);
  app->add_option("--ucx-device", options->ucx_device,
                  "UCX_NET_DEVICES of ucx_perftest")
      ->type_name("NAME")
      ->default_str("the plugin's name of its device");
}

}  // namespace

void AddNetOptions(CLI::App* app, NetOptions* options) {
  AddPluginOptions(app, options);
  AddChoiceOption(app, "--test", "what to measure: bandwidth, latency or all",
                  {"bandwidth", "latency", "all"}, &options->test);
  AddSizeOption(app, "-b,--minbytes", "smallest message",
                &options->sweep.min_bytes)
      ->default_str("bandwidth 1Ki, latency 8");
  AddSizeOption(app, "-e,--maxbytes", "largest message, at most 1Gi",
                &options->sweep.max_bytes)
      ->default_str("bandwidth 64Mi, latency 4Ki");
  AddNumberOption(app, "-f,--stepfactor", "multiply by this from size to size",
                  2, 1 << 20, &options->sweep.factor);
  AddNumberOption(app, "--alternations",
                  "turns that plugin and ucx_perftest take at each size; "
                  "medians over them count",
                  1, 1000, &options->alternations);
  AddNumberOption(app, "--time-ms", "milliseconds that a turn is to last", 1,
                  2000, &options->time_ms);
  app->add_option("-J,--json", options->json_path, "write the result as JSON")
      ->type_name("FILE");
}

Status FinishNetOptions(const std::string& own_folder, NetOptions* options) {
  if (options->sweep.max_bytes > kMostBytes ||
      options->sweep.min_bytes > kMostBytes) {
    return InvalidArgument(
        fmt::format("a message of {} is refused; accepted is 1 to {}",
                    FormatSize(std::max(options->sweep.min_bytes,
                                        options->sweep.max_bytes)),
                    FormatSize(kMostBytes)));
  }
  if (GivenSizes(*options)) {
    RONDO_RETURN_IF_ERROR(CompleteSweep(&options->sweep)
                              .WithContext("--minbytes and --maxbytes"));
  }
  RONDO_RETURN_IF_ERROR(
      CheckWritable(options->json_path).WithContext("--json"));
  if (options->plugin.empty()) options->plugin = NearbyPlugin(own_folder);
  // Then where the dynamic loader looks, which says so if it is not there.
  if (options->plugin.empty()) options->plugin = kOwnPlugin;
  return Status::Ok();
}

bool TestsBandwidth(const NetOptions& options) {
  return options.test != "latency";
}

bool TestsLatency(const NetOptions& options) {
  return options.test != "bandwidth";
}

std::vector<size_t> BandwidthSizes(const NetOptions& options) {
  return Sizes(options, kBandwidthSweep);
}

std::vector<size_t> LatencySizes(const NetOptions& options) {
  return Sizes(options, kLatencySweep);
}

std::map<std::string, std::string> PluginVariables(
    const NetOptions& options, const EnvironmentReader& environment) {
  std::map<std::string, std::string> variables;
  auto add = [&](const std::string& name, const std::string& value) {
    if (!environment.Get(name)) variables[name] = value;
  };
  add("RONDO_UCX_TLS", options.ucx_tls);
  // Loopback, for one, is a device only for who names it.
  if (!IsIndex(options.device)) add("RONDO_NET_DEVICES", options.device);
  return variables;
}

}  // namespace rondo::perf
