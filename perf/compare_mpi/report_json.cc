#include "nlohmann/json.hpp"
#include "perf/cli/version.h"
#include "perf/compare_mpi/report.h"

namespace rondo::perf {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const CellResult& result, int ranks) {
  const double rondo_us = result.rondo_us;
  const double mpi_us = result.mpi_us;
  return {
      {"collective", CollectiveName(result.cell.collective)},
      {"bytes", result.bytes},
      {"count", result.cell.count},
      {"place", PlaceName(result.cell.in_place)},
      {"buffers", BufferKindName(result.cell.buffers)},
      {"rondo_us", rondo_us},
      {"mpi_us", mpi_us},
      {"ratio", result.ratio()},
      {"limit_fraction",
       result.limit_fraction ? Json(*result.limit_fraction) : Json(nullptr)},
      {"mpi_call", result.mpi_call},
      {"rondo_busbw", BusBandwidth(result, ranks, rondo_us)},
      {"mpi_busbw", BusBandwidth(result, ranks, mpi_us)},
      {"alternations", result.alternations},
      {"rerun", result.rerun},
      {"wrong", result.wrong}};
}

}  // namespace

std::string ComparisonJson(const ComparisonRun& run) {
  Json reduce = Json::array();
  for (const ReduceLimit& limit : run.limits.reduce) {
    reduce.push_back({{"sources", limit.sources},
                      {"gbs", limit.gbs},
                      {"stores", StoreHintName(limit.hint)}});
  }
  Json results = Json::array();
  for (const CellResult& result : run.results) {
    results.push_back(ToJson(result, run.ranks));
  }
  const Json report = {
      {"version", kComparisonJsonVersion},
      {"rondo_version", VersionText()},
      {"mpi", run.mpi_name},
      {"mpi_version", run.mpi_version},
      {"ucx_version", run.ucx_version},
      {"transport", run.transport},
      {"machine", {{"cpu", run.cpu_model}, {"cores", run.cores}}},
      {"ranks", run.ranks},
      {"start_time", run.start_time},
      {"end_time", run.end_time},
      {"args", run.arguments},
      {"env", run.environment},
      {"copy_gbs", run.limits.copy_gbs},
      {"copy_stores", StoreHintName(run.limits.copy_hint)},
      {"reduce_gbs", reduce},
      {"wrong", TotalWrong(run)},
      {"results", results}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rondo::perf
