#include "nlohmann/json.hpp"
#include "perf/cli/version.h"
#include "perf/net/net_flow.h"
#include "perf/net/net_result.h"

namespace rondo::perf {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNsPerUs = 1000;

Json OrNull(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json CellJson(const NetCell& cell) {
  const bool bandwidth = cell.test == NetTest::kBandwidth;
  Json json = {{"test", bandwidth ? "bandwidth" : "latency"},
               {"bytes", cell.bytes}};
  const std::string unit = bandwidth ? "gbs" : "us";
  json["plugin_" + unit] = cell.plugin;
  if (!bandwidth) json["plugin_p99_us"] = cell.plugin_p99;
  json["raw_" + unit] = OrNull(cell.raw);
  json["ratio"] = OrNull(NetRatio(cell));
  json["messages"] = cell.messages;
  json["wrong_bytes"] = cell.wrong_bytes;
  json["longest_call_us"] =
      static_cast<double>(cell.longest.wall_ns) / kNsPerUs;
  json["longest_call_cpu_us"] =
      static_cast<double>(cell.longest.cpu_ns) / kNsPerUs;
  return json;
}

}  // namespace

std::string NetJson(const NetRun& run) {
  Json results = Json::array();
  for (const NetCell& cell : run.cells) results.push_back(CellJson(cell));
  const Json json = {{"version", kNetJsonVersion},
                     {"rondo_version", VersionText()},
                     {"start_time", run.start_time},
                     {"end_time", run.end_time},
                     {"args", run.arguments},
                     {"env", run.environment},
                     {"hostname", run.hostname},
                     {"cpus", run.cpus},
                     {"plugin", run.plugin},
                     {"plugin_path", run.plugin_path},
                     {"plugin_version", run.plugin_version},
                     {"device", run.device},
                     {"transport", run.transport},
                     {"raw_program", run.raw_program},
                     {"raw_device", run.raw_device},
                     {"raw_missing", run.raw_missing},
                     {"window", kWindow},
                     {"alternations", run.alternations},
                     {"results", results}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rondo::perf
