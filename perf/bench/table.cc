#include "perf/bench/table.h"

#include "fmt/format.h"
#include "perf/cli/version.h"

namespace rondo::perf {
namespace {

constexpr char kLeftColumns[] = "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}";

std::string HalfHeader(bool percentiles, const char* time, const char* alg,
                       const char* bus, const char* wrong, bool units) {
  std::string text =
      fmt::format("  {:>8}  {:>6}  {:>6}  {:>6}", time, alg, bus, wrong);
  if (!percentiles) return text;
  for (const char* name : {"p50", "p95", "p99"}) {
    text += fmt::format("  {:>8}", units ? "(us)" : name);
  }
  return text;
}

std::string HalfRow(const Measurement& measured, bool percentiles) {
  std::string text = fmt::format(
      "  {:>8}  {:>6}  {:>6}  {:>6}", FixedWidth(measured.times.mean_us, 8),
      FixedWidth(measured.alg_bw, 6), FixedWidth(measured.bus_bw, 6),
      measured.wrong ? std::to_string(*measured.wrong) : "N/A");
  if (!percentiles) return text;
  for (double value :
       {measured.times.p50_us, measured.times.p95_us, measured.times.p99_us}) {
    text += fmt::format("  {:>8}", FixedWidth(value, 8));
  }
  return text;
}

}  // namespace

std::string FixedWidth(double value, int width) {
  // Two decimals while they fit, then one, then none.
  for (int decimals = 2; decimals > 0; --decimals) {
    const std::string text = fmt::format("{:.{}f}", value, decimals);
    if (static_cast<int>(text.size()) <= width - 1) return text;
  }
  return fmt::format("{:.0f}", value);
}

std::string PreambleText(const BenchmarkRun& run) {
  const bool factor = run.sweep.step_bytes == 0;
  std::string text = fmt::format(
      "# rondo {} perf {}\n"
      "# ranks {} hosts {} minBytes {} maxBytes {} step: {}({}) warmup iters: "
      "{} iters: {} validation: {} buffers: {}\n"
      "# Transport: {}\n"
      "#\n# Using ranks\n",
      VersionText(), run.collective, run.ranks.size(), run.hosts,
      run.sweep.min_bytes, run.sweep.max_bytes,
      factor ? run.sweep.factor : run.sweep.step_bytes,
      factor ? "factor" : "bytes", run.warmup_iterations, run.iterations,
      run.check ? 1 : 0, BufferKindName(run.buffers), run.transport);
  for (const RankFacts& facts : run.ranks) {
    text += fmt::format("#  Rank {:>2} Pid {:>6} on {} (host {})\n", facts.rank,
                        facts.pid, facts.hostname, facts.host);
  }
  return text;
}

std::string HeaderText(bool percentiles) {
  const int half =
      static_cast<int>(HalfHeader(percentiles, "", "", "", "", false).size());
  std::string text = "#\n";
  text += fmt::format(kLeftColumns, "", "", "", "", "") +
          fmt::format("{:^{}}{:^{}}\n", "out-of-place", half, "in-place", half);
  text += fmt::format(kLeftColumns, "size", "count", "type", "redop", "root");
  for (int i = 0; i < 2; ++i) {
    text += HalfHeader(percentiles, "time", "algbw", "busbw", "#wrong", false);
  }
  text += "\n" + fmt::format(kLeftColumns, "(B)", "(elements)", "", "", "");
  for (int i = 0; i < 2; ++i) {
    text += HalfHeader(percentiles, "(us)", "(GB/s)", "(GB/s)", "", true);
  }
  return text + "\n";
}

std::string RowText(const ResultRow& row, bool percentiles) {
  return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}{}{}\n", row.size,
                     row.count, row.type, row.redop, row.root,
                     HalfRow(row.out_of_place, percentiles),
                     HalfRow(row.in_place, percentiles));
}

std::string SummaryText(const BenchmarkRun& run) {
  const int64_t wrong = TotalWrong(run);
  const std::string verdict =
      !run.check ? "not checked"
                 : fmt::format("{} {}", wrong, wrong == 0 ? "OK" : "FAILED");
  return fmt::format(
      "# Out of bounds values : {}\n"
      "# Avg bus bandwidth    : {:g}\n#\n",
      verdict, AverageBusBandwidth(run));
}

}  // namespace rondo::perf
