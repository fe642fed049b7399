#include "perf/bench/json_report.h"

#include "perf/cli/version.h"

namespace rondo::perf {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const Measurement& measured) {
  return {{"time", measured.times.mean_us},
          {"alg_bw", measured.alg_bw},
          {"bus_bw", measured.bus_bw},
          {"nwrong", measured.wrong ? Json(*measured.wrong) : Json(nullptr)},
          {"per_iter", IterationTimesToJson(measured.times)}};
}

Json ToJson(const ResultRow& row) {
  return {{"size", row.size},
          {"count", row.count},
          {"type", row.type},
          {"redop", row.redop},
          {"root", row.root},
          {"out_of_place", ToJson(row.out_of_place)},
          {"in_place", ToJson(row.in_place)}};
}

Json Devices(const BenchmarkRun& run) {
  Json devices = Json::array();
  for (const RankFacts& facts : run.ranks) {
    devices.push_back({{"rank", facts.rank},
                       {"pid", facts.pid},
                       {"hostname", facts.hostname},
                       {"host", facts.host}});
  }
  return devices;
}

Json Config(const BenchmarkRun& run) {
  Json config = {{"collective", run.collective},
                 {"buffers", BufferKindName(run.buffers)},
                 {"ranks", run.ranks.size()},
                 {"hosts", run.hosts},
                 {"minimum_bytes", run.sweep.min_bytes},
                 {"maximum_bytes", run.sweep.max_bytes}};
  if (run.sweep.step_bytes > 0) {
    config["step_bytes"] = run.sweep.step_bytes;
  } else {
    config["step_factor"] = run.sweep.factor;
  }
  config["warmup_iters"] = run.warmup_iterations;
  config["iterations"] = run.iterations;
  config["validation"] = run.check ? 1 : 0;
  return config;
}

}  // namespace

Json IterationTimesToJson(const IterationTimes& times) {
  return {{"min_us", times.min_us},     {"max_us", times.max_us},
          {"avg_us", times.mean_us},    {"p50_us", times.p50_us},
          {"p95_us", times.p95_us},     {"p99_us", times.p99_us},
          {"stdev_us", times.stdev_us}, {"cv_pct", times.cv_pct}};
}

std::string JsonReport(const BenchmarkRun& run) {
  Json results = Json::array();
  for (const ResultRow& row : run.rows) results.push_back(ToJson(row));
  const int64_t wrong = TotalWrong(run);
  const Json report = {
      {"version", kJsonReportVersion},
      {"rondo_version", VersionText()},
      {"start_time", run.start_time},
      {"args", run.arguments},
      {"env", run.environment},
      {"transport", run.transport},
      {"devices", Devices(run)},
      {"config", Config(run)},
      {"results", results},
      {"out_of_bounds", {{"count", wrong}, {"okay", wrong == 0}}},
      {"average_bus_bandwidth", {{"bandwidth", AverageBusBandwidth(run)}}},
      {"end_time", run.end_time}};
  // Names from outside need not be UTF-8; a report with a replacement character
  // beats none.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rondo::perf
