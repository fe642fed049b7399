#include "perf/bench/csv_report.h"

#include "fmt/format.h"

namespace rondo::perf {
namespace {

std::string Line(const BenchmarkRun& run, const ResultRow& row,
                 const char* placement, const Measurement& measured) {
  const IterationTimes& times = measured.times;
  return fmt::format(
      "{},{},{},{},{},{},{},{},{:.3f},{:.4f},{:.4f},{},{:.3f},{:.3f},{:.3f},"
      "{:.3f},{:.3f},{:.3f}\n",
      run.collective, run.ranks.size(), row.size, row.count, row.type,
      row.redop, row.root, placement, times.mean_us, measured.alg_bw,
      measured.bus_bw,
      measured.wrong ? std::to_string(*measured.wrong) : std::string(),
      times.min_us, times.max_us, times.p50_us, times.p95_us, times.p99_us,
      times.stdev_us);
}

}  // namespace

std::string CsvReport(const BenchmarkRun& run) {
  std::string text =
      "collective,ranks,size_bytes,count,type,redop,root,placement,time_us,"
      "algbw_gbs,busbw_gbs,wrong,min_us,max_us,p50_us,p95_us,p99_us,stdev_us\n";
  for (const ResultRow& row : run.rows) {
    text += Line(run, row, "out_of_place", row.out_of_place);
    text += Line(run, row, "in_place", row.in_place);
  }
  return text;
}

}  // namespace rondo::perf
