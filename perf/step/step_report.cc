#include "perf/step/step_report.h"

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "perf/bench/json_report.h"
#include "perf/cli/version.h"

namespace rondo::perf {
namespace {

using Json = nlohmann::ordered_json;

std::string RankLines(const StepRun& run) {
  std::string text;
  for (const RankFacts& facts : run.ranks) {
    text += fmt::format("#  Rank {:>2} Pid {:>6} on {} (host {})\n", facts.rank,
                        facts.pid, facts.hostname, facts.host);
  }
  return text;
}

std::string WrongText(const StepRun& run) {
  return run.wrong ? std::to_string(*run.wrong) : "N/A";
}

}  // namespace

double MillionParametersPerSecond(const StepRun& run) {
  if (run.times.mean_us <= 0) return 0;
  return static_cast<double>(run.parameters) / run.times.mean_us;
}

int64_t AlgorithmBytesPerRank(const StepRun& run) {
  const auto ranks = static_cast<int64_t>(run.ranks.size());
  return run.parameters * (run.gradient_bytes + run.parameter_bytes) *
         (ranks - 1) / ranks;
}

std::string StepText(const StepRun& run) {
  std::string text = fmt::format(
      "# rondo {} perf step\n"
      "# ranks {} params {} warmup iters: {} iters: {} validation: {}\n"
      "# Transport: {}\n# Optimizer state on rank 0: {} bytes\n"
      "#\n# Using ranks\n{}#\n",
      VersionText(), run.ranks.size(), run.parameters, run.warmup_iterations,
      run.iterations, run.wrong ? 1 : 0, run.transport, run.state_bytes,
      RankLines(run));
  text += fmt::format(
      "# {:>10}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>10}  {:>12}  "
      "{:>6}\n",
      "params", "gradtype", "paramtype", "time", "p50", "p95", "p99", "rate",
      "algbytes", "#wrong");
  text += fmt::format(
      "# {:>10}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>10}  {:>12}  "
      "{:>6}\n",
      "", "", "", "(ms)", "(ms)", "(ms)", "(ms)", "(Mparam/s)", "(B/rank)", "");
  text += fmt::format(
      "{:>12}  {:>9}  {:>9}  {:>9.3f}  {:>9.3f}  {:>9.3f}  {:>9.3f}  {:>10.1f}"
      "  {:>12}  {:>6}\n",
      run.parameters, run.gradient_type, run.parameter_type,
      run.times.mean_us / 1e3, run.times.p50_us / 1e3, run.times.p95_us / 1e3,
      run.times.p99_us / 1e3, MillionParametersPerSecond(run),
      AlgorithmBytesPerRank(run), WrongText(run));
  const std::string verdict =
      !run.wrong
          ? "not checked"
          : fmt::format("{} {}", *run.wrong, *run.wrong == 0 ? "OK" : "FAILED");
  return text + fmt::format("# Out of bounds values : {}\n#\n", verdict);
}

std::string StepJson(const StepRun& run) {
  Json devices = Json::array();
  for (const RankFacts& facts : run.ranks) {
    devices.push_back({{"rank", facts.rank},
                       {"pid", facts.pid},
                       {"hostname", facts.hostname},
                       {"host", facts.host}});
  }
  const Json json = {{"version", kJsonReportVersion},
                     {"rondo_version", VersionText()},
                     {"start_time", run.start_time},
                     {"args", run.arguments},
                     {"env", run.environment},
                     {"transport", run.transport},
                     {"devices", devices},
                     {"config",
                      {{"ranks", run.ranks.size()},
                       {"parameters", run.parameters},
                       {"gradient_type", run.gradient_type},
                       {"parameter_type", run.parameter_type},
                       {"warmup_iters", run.warmup_iterations},
                       {"iterations", run.iterations},
                       {"validation", run.wrong ? 1 : 0}}},
                     {"result",
                      {{"time_ms", run.times.mean_us / 1e3},
                       {"mparams_per_s", MillionParametersPerSecond(run)},
                       {"algorithm_bytes_per_rank", AlgorithmBytesPerRank(run)},
                       {"state_bytes", run.state_bytes},
                       {"nwrong", run.wrong ? Json(*run.wrong) : Json(nullptr)},
                       {"per_iter", IterationTimesToJson(run.times)}}},
                     {"end_time", run.end_time}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rondo::perf
