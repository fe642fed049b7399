#include "perf/step/step_report.h"

#include "fmt/format.h"
#include "perf/cli/version.h"

namespace rondo::perf {
namespace {

double Gbs(size_t bytes, double ms) {
  return ms > 0 ? static_cast<double>(bytes) / (ms * 1e6) : 0;
}

double FigureGbs(const StepRun& run, std::string_view figure, size_t bytes) {
  const WayTimes* way = FastestWay(run, figure);
  return way == nullptr ? 0 : Gbs(bytes, way->median_ms);
}

std::string Preamble(const StepRun& run) {
  std::string text = fmt::format(
      "# rondo {} {}\n"
      "# ranks {} params {}{} gradients {} parameters {} buffers {}\n"
      "# bucket {} warmup rounds: {} rounds: {} validation: {}\n"
      "# Transport: {}\n# Optimizer state on rank 0: {} bytes\n"
      "#\n# Using ranks\n",
      VersionText(), run.program, run.ranks.size(), run.parameters,
      run.model.empty() ? "" : fmt::format(" ({})", run.model),
      run.gradient_type, run.parameter_type, run.buffers,
      run.bucket_count_target, run.warmup_rounds, run.rounds, run.wrong ? 1 : 0,
      run.transport, run.state_bytes);
  for (const RankFacts& facts : run.ranks) {
    text += fmt::format("#  Rank {:>2} Pid {:>6} on {} (host {})\n", facts.rank,
                        facts.pid, facts.hostname, facts.host);
  }
  if (!run.mpi_name.empty()) {
    text += fmt::format("# Compared with: {}\n", run.mpi_version);
  }
  return text + "#\n";
}

// Bytes a step cannot do without, over its time; of copying its own bytes.
std::string Table(const StepRun& run) {
  std::string text = fmt::format("# {:<18}  {:>10}  {:>7}  {}\n", "figure",
                                 "time (ms)", "GB/s", "way");
  for (const WayTimes& way : run.ways) {
    const size_t bytes = way.figure == kCopy ? run.copy_bytes : run.limit_bytes;
    text += fmt::format("  {:<18}  {:>10.3f}  {:>7.2f}  {}\n", way.figure,
                        way.median_ms, Gbs(bytes, way.median_ms), way.way);
  }
  return text;
}

std::string Verdicts(const StepRun& run) {
  std::string text = fmt::format(
      "#\n# fused: {:.2f}x unfused, {:.3f} of the limit\n"
      "# fused with clipping: {:.2f}x a separate pass for the norm, {:.2f}x "
      "the norm inside the reduce-scatter\n"
      "# the limit loop: {:.3f} of copying\n",
      Speedup(run, kUnfused, kFused), Speedup(run, kLimit, kFused),
      Speedup(run, kUnfusedClip, kFusedClip),
      Speedup(run, kUnfusedClipBest, kFusedClip),
      CopyGbs(run) > 0 ? LimitGbs(run) / CopyGbs(run) : 0);
  if (!run.mpi_name.empty()) {
    text += fmt::format("# fused: {:.2f}x {}\n", Speedup(run, kMpi, kFused),
                        run.mpi_name);
  }
  if (!run.wrong) return text + "# Out of bounds values : not checked\n#\n";
  return text + fmt::format(
                    "# Out of bounds values : {} {} ({} of {} compared "
                    "on each rank)\n#\n",
                    *run.wrong, *run.wrong == 0 ? "OK" : "FAILED",
                    run.checked.value_or(0), run.parameters);
}

}  // namespace

const WayTimes* FastestWay(const StepRun& run, std::string_view figure) {
  const WayTimes* fastest = nullptr;
  for (const WayTimes& way : run.ways) {
    if (way.figure != figure) continue;
    if (fastest == nullptr || way.median_ms < fastest->median_ms) {
      fastest = &way;
    }
  }
  return fastest;
}

double Speedup(const StepRun& run, std::string_view slower,
               std::string_view faster) {
  const WayTimes* a = FastestWay(run, slower);
  const WayTimes* b = FastestWay(run, faster);
  if (a == nullptr || b == nullptr || b->median_ms <= 0) return 0;
  return a->median_ms / b->median_ms;
}

double LimitGbs(const StepRun& run) {
  return FigureGbs(run, kLimit, run.limit_bytes);
}

double CopyGbs(const StepRun& run) {
  return FigureGbs(run, kCopy, run.copy_bytes);
}

std::string StepText(const StepRun& run) {
  return Preamble(run) + Table(run) + Verdicts(run);
}

}  // namespace rondo::perf
