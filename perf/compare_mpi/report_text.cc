#include <algorithm>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "perf/bench/table.h"
#include "perf/cli/version.h"
#include "perf/compare_mpi/report.h"

namespace rondo::perf {
namespace {

std::string Us(double value) { return FixedWidth(value, 9); }

}  // namespace

std::string PreambleText(const ComparisonRun& run) {
  std::string text = fmt::format(
      "# rondo {} against {}, {} ranks\n"
      "# MPI       : {}\n"
      "# UCX       : {}\n"
      "# Transport : {}\n"
      "# Machine   : {}, {} cores\n"
      "# Command   : {}\n"
      "# Memory    : {:.1f} GB/s copied ({} stores)",
      VersionText(), run.mpi_name, run.ranks, run.mpi_version, run.ucx_version,
      run.transport, run.cpu_model, run.cores, fmt::join(run.arguments, " "),
      run.limits.copy_gbs, StoreHintName(run.limits.copy_hint));
  for (const ReduceLimit& limit : run.limits.reduce) {
    text += fmt::format("; {:.1f} GB/s read and written reducing {} ({})",
                        limit.gbs, limit.sources, StoreHintName(limit.hint));
  }
  return text +
         "\n# Times are medians of mean times of back-to-back calls on the "
         "worst rank.\n"
         "# ratio = MPI's time / Rondo's; limit = least time for the memory "
         "traffic / Rondo's time.\n";
}

std::string HeaderText(const ComparisonRun&) {
  const std::string titles = fmt::format(
      "# {:>10} {:>10} {:>14} {:>12} {:>9} {:>10} {:>10} {:>6} {:>6} {:>8} "
      "{:>8} {:>6}  {}\n",
      "size", "count", "collective", "place", "buffers", "rondo", "mpi",
      "ratio", "limit", "rondo", "mpi", "#wrong", "MPI call");
  const std::string units = fmt::format(
      "# {:>10} {:>10} {:>14} {:>12} {:>9} {:>10} {:>10} {:>6} {:>6} {:>8} "
      "{:>8}\n",
      "(B)", "(per rank)", "", "", "", "(us)", "(us)", "", "", "(bus GB/s)",
      "");
  return "#\n" + titles + units;
}

std::string RowText(const CellResult& result, int ranks) {
  return fmt::format(
      "{:>12} {:>10} {:>14} {:>12} {:>9} {:>10} {:>10} {:>6.2f} {:>6} {:>8} "
      "{:>8} {:>6}  {}{}\n",
      result.bytes, result.cell.count, CollectiveName(result.cell.collective),
      PlaceName(result.cell.in_place), BufferKindName(result.cell.buffers),
      Us(result.rondo_us), Us(result.mpi_us), result.ratio(),
      result.limit_fraction ? fmt::format("{:.2f}", *result.limit_fraction)
                            : "-",
      FixedWidth(BusBandwidth(result, ranks, result.rondo_us), 8),
      FixedWidth(BusBandwidth(result, ranks, result.mpi_us), 8), result.wrong,
      result.mpi_call, result.rerun ? " *" : "");
}

std::string SummaryText(const ComparisonRun& run) {
  const auto slowest =
      std::min_element(run.results.begin(), run.results.end(),
                       [](const CellResult& a, const CellResult& b) {
                         return a.ratio() < b.ratio();
                       });
  const int64_t wrong = TotalWrong(run);
  std::string text = fmt::format(
      "# Memory         : {:.1f} GB/s copied, median over the run\n"
      "# Wrong elements : {} {}\n",
      run.limits.copy_gbs, wrong, wrong == 0 ? "OK" : "FAILED");
  if (slowest == run.results.end()) return text;
  const auto below = std::count_if(
      run.results.begin(), run.results.end(),
      [](const CellResult& result) { return result.ratio() < 0.9; });
  return text + fmt::format(
                    "# Ratio          : {} of {} below 0.9; the lowest is "
                    "{:.2f}, {} {} {} of {} bytes\n",
                    below, run.results.size(), slowest->ratio(),
                    BufferKindName(slowest->cell.buffers),
                    PlaceName(slowest->cell.in_place),
                    CollectiveName(slowest->cell.collective), slowest->bytes);
}

}  // namespace rondo::perf
