// What a measured step has come to, as text and as JSON.
//
//   {"version", "rondo_version", "start_time", "end_time", "args": [..],
//    "env": [..], "transport", "devices": [{"rank", "pid", "hostname",
//    "host"}], "params", "model", "ranks", "gradient_type", "parameter_type",
//    "buffers", "bucket", "rounds", "warmup_rounds", "state_bytes", "fused_ms",
//    "fused_clip_ms", "unfused_ms", "unfused_clip_ms", "unfused_clip_best_ms",
//    "limit_ms", "limit_gbs", "copy_gbs", "fused_speedup",
//    "fused_limit_fraction", "clip_speedup", "clip_best_speedup",
//    "limit_copy_fraction", "wrong", "checked", "ways": [{"figure", "way",
//    "median_ms", "round_ms"}]}
//
// and of a comparison with MPI also "mpi", "mpi_version", "mpi_ms" and "ratio"
// (mpi_ms / fused_ms). Times are medians over the rounds, of the slowest rank,
// and of the fastest way where there are several. Bandwidths are GB/s and count
// bytes read as well as bytes written, of all ranks. "wrong" and "checked" are
// null when nothing was checked.
//
// Thread-safety: values and pure functions. Failure: none.
//
// Example:
//   fmt::print("{}", StepText(run));
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perf/bench/result.h"

namespace rondo::perf {

// The figures: what ways of stepping are grouped by.
inline constexpr std::string_view kFused = "fused";
inline constexpr std::string_view kFusedClip = "fused_clip";
inline constexpr std::string_view kUnfused = "unfused";
inline constexpr std::string_view kUnfusedClip = "unfused_clip";
inline constexpr std::string_view kUnfusedClipBest = "unfused_clip_best";
inline constexpr std::string_view kLimit = "limit";
inline constexpr std::string_view kCopy = "copy";
inline constexpr std::string_view kMpi = "mpi";

// One way to come to a figure.
struct WayTimes {
  std::string figure;
  std::string way;
  double median_ms = 0;
  std::vector<double> round_ms;
};

struct StepRun {
  std::string program = "rondo perf step";
  std::string start_time;
  std::string end_time;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string transport;
  std::vector<RankFacts> ranks;
  std::string model;  // empty: one array
  int64_t parameters = 0;
  std::string gradient_type;
  std::string parameter_type;
  std::string buffers;
  int64_t bucket_count_target = 0;
  int rounds = 0;
  int warmup_rounds = 0;
  int64_t state_bytes = 0;  // of one optimizer, on rank 0
  size_t limit_bytes = 0;   // read and written by a step, all ranks
  size_t copy_bytes = 0;    // the same of the copy loop
  std::vector<WayTimes> ways;
  std::string mpi_name;  // empty: not compared
  std::string mpi_version;
  std::optional<int64_t> wrong;    // parameters, on all ranks together
  std::optional<int64_t> checked;  // how many of one copy were compared
};

// The fastest way to a figure; null when there is none.
const WayTimes* FastestWay(const StepRun& run, std::string_view figure);

// How many times as long `slower` takes as `faster`; 0 when unknown.
double Speedup(const StepRun& run, std::string_view slower,
               std::string_view faster);

double LimitGbs(const StepRun& run);
double CopyGbs(const StepRun& run);

std::string StepText(const StepRun& run);

// Of this layout; changes only when a key changes its meaning.
inline constexpr int kStepJsonVersion = 2;
std::string StepJson(const StepRun& run);

}  // namespace rondo::perf
