// What `rondo perf net` has measured, and how it is told.
//
//   {"version", "rondo_version", "start_time", "end_time", "args": [..],
//    "env": [..], "hostname", "cpus", "plugin", "plugin_path",
//    "plugin_version", "device", "transport", "raw_program", "raw_device",
//    "raw_missing", "window", "alternations",
//    "results": [{"test": "bandwidth", "bytes", "plugin_gbs", "raw_gbs",
//                 "ratio", "messages", "wrong_bytes", "longest_call_us",
//                 "longest_call_cpu_us"},
//                {"test": "latency", "bytes", "plugin_us", "plugin_p99_us",
//                 "raw_us", ...}]}
//
// raw and ratio are null where nothing was compared; ratio is the plugin's
// figure over the raw one. GB/s is 10^9 bytes per second.
//
// Thread-safety: pure functions. Failure: none.
//
// Example:
//   fmt::print("{}{}", NetPreamble(run), NetHeader(NetTest::kBandwidth));
//   for (const NetCell& cell : run.cells) fmt::print("{}", NetRow(cell));
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "perf/net/call_watch.h"

namespace rondo::perf {

inline constexpr int kNetJsonVersion = 1;

enum class NetTest { kBandwidth, kLatency };

struct NetCell {
  NetTest test = NetTest::kBandwidth;
  size_t bytes = 0;
  double plugin = 0;      // GB/s, or microseconds one way
  double plugin_p99 = 0;  // latency only
  std::optional<double> raw;
  int64_t messages = 0;  // of one turn; of latency, round trips
  int64_t wrong_bytes = 0;
  LongestCall longest;
};

struct NetRun {
  std::string start_time;
  std::string end_time;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string hostname;
  int cpus = 0;
  std::string plugin;  // its own name
  std::string plugin_path;
  int plugin_version = 0;
  std::string device;
  std::string transport;  // UCX_TLS of the raw side
  std::string raw_program;
  std::string raw_device;
  std::string raw_missing;  // why there are no raw figures
  int alternations = 0;
  std::vector<NetCell> cells;
};

// Plugin over raw.
std::optional<double> NetRatio(const NetCell& cell);
int64_t WrongBytes(const NetRun& run);
double Median(std::vector<double> values);

std::string NetPreamble(const NetRun& run);
std::string NetHeader(NetTest test);
std::string NetRow(const NetCell& cell);
std::string NetSummary(const NetRun& run);
std::string NetJson(const NetRun& run);

}  // namespace rondo::perf
