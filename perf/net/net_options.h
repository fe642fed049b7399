// What `rondo perf net` can be told.
//
// Thread-safety: values; parsing on one thread. Failure: bad values are refused
// while parsing, contradictions and unusable files by FinishNetOptions().
//
// Example:
//   NetOptions options;
//   AddNetOptions(app, &options);
#pragma once

#include <map>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "perf/bench/sweep.h"
#include "transports/base/environment.h"
#include "transports/base/status.h"

namespace rondo::perf {

struct NetOptions {
  std::string plugin;        // empty: ours, found by FinishNetOptions()
  int version = 0;           // 0: the newest that the plugin exports
  std::string device = "0";  // index or name
  std::string test = "all";  // bandwidth, latency or all
  SweepOptions sweep;        // not given: each test's own
  int alternations = 5;
  int time_ms = 200;  // of one measurement
  bool raw = true;
  std::string ucx_tls = "tcp";
  std::string ucx_device;  // empty: the plugin's name of its device
  std::string json_path;
};

// `options` must outlive the app.
void AddNetOptions(CLI::App* app, NetOptions* options);

// Completes what was left out. `own_folder`: of this program, beside or near
// which our plugin is.
Status FinishNetOptions(const std::string& own_folder, NetOptions* options);

bool TestsBandwidth(const NetOptions& options);
bool TestsLatency(const NetOptions& options);
std::vector<size_t> BandwidthSizes(const NetOptions& options);
std::vector<size_t> LatencySizes(const NetOptions& options);

// What the plugin's processes get besides the environment that is there: our
// plugin reads them, others do not know them.
std::map<std::string, std::string> PluginVariables(
    const NetOptions& options, const EnvironmentReader& environment);

}  // namespace rondo::perf
