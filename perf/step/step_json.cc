#include "nlohmann/json.hpp"
#include "perf/cli/version.h"
#include "perf/step/step_report.h"

namespace rondo::perf {
namespace {

using Json = nlohmann::ordered_json;

Json Milliseconds(const StepRun& run, std::string_view figure) {
  const WayTimes* way = FastestWay(run, figure);
  return way == nullptr ? Json(nullptr) : Json(way->median_ms);
}

Json OrNull(const std::optional<int64_t>& count) {
  return count ? Json(*count) : Json(nullptr);
}

Json Facts(const StepRun& run) {
  Json devices = Json::array();
  for (const RankFacts& facts : run.ranks) {
    devices.push_back({{"rank", facts.rank},
                       {"pid", facts.pid},
                       {"hostname", facts.hostname},
                       {"host", facts.host}});
  }
  return {{"version", kStepJsonVersion},
          {"rondo_version", VersionText()},
          {"start_time", run.start_time},
          {"end_time", run.end_time},
          {"args", run.arguments},
          {"env", run.environment},
          {"transport", run.transport},
          {"devices", devices},
          {"params", run.parameters},
          {"model", run.model},
          {"ranks", run.ranks.size()},
          {"gradient_type", run.gradient_type},
          {"parameter_type", run.parameter_type},
          {"buffers", run.buffers},
          {"bucket", run.bucket_count_target},
          {"rounds", run.rounds},
          {"warmup_rounds", run.warmup_rounds},
          {"state_bytes", run.state_bytes}};
}

void AddFigures(const StepRun& run, Json* json) {
  for (std::string_view figure :
       {kFused, kFusedClip, kUnfused, kUnfusedClip, kUnfusedClipBest, kLimit}) {
    (*json)[std::string(figure) + "_ms"] = Milliseconds(run, figure);
  }
  const double copy_gbs = CopyGbs(run);
  (*json)["limit_gbs"] = LimitGbs(run);
  (*json)["copy_gbs"] = copy_gbs;
  (*json)["fused_speedup"] = Speedup(run, kUnfused, kFused);
  (*json)["fused_limit_fraction"] = Speedup(run, kLimit, kFused);
  (*json)["clip_speedup"] = Speedup(run, kUnfusedClip, kFusedClip);
  (*json)["clip_best_speedup"] = Speedup(run, kUnfusedClipBest, kFusedClip);
  (*json)["limit_copy_fraction"] = copy_gbs > 0 ? LimitGbs(run) / copy_gbs : 0;
  if (run.mpi_name.empty()) return;
  (*json)["mpi"] = run.mpi_name;
  (*json)["mpi_version"] = run.mpi_version;
  (*json)["mpi_ms"] = Milliseconds(run, kMpi);
  (*json)["ratio"] = Speedup(run, kMpi, kFused);
}

}  // namespace

std::string StepJson(const StepRun& run) {
  Json json = Facts(run);
  AddFigures(run, &json);
  json["wrong"] = OrNull(run.wrong);
  json["checked"] = OrNull(run.checked);
  json["ways"] = Json::array();
  for (const WayTimes& way : run.ways) {
    json["ways"].push_back({{"figure", way.figure},
                            {"way", way.way},
                            {"median_ms", way.median_ms},
                            {"round_ms", way.round_ms}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rondo::perf
