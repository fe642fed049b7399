// The comparison as text and as JSON.
//
//   {"version", "rondo_version", "mpi", "mpi_version", "ucx_version",
//    "transport", "machine": {"cpu", "cores"}, "ranks", "start_time",
//    "end_time", "args": [..], "env": [..],
//    "copy_gbs", "copy_stores", "reduce_gbs": [{"sources", "gbs", "stores"}],
//    "wrong",
//    "results": [{"collective", "bytes", "count", "place", "buffers",
//                 "rondo_us", "mpi_us", "ratio", "limit_fraction", "mpi_call",
//                 "rondo_busbw", "mpi_busbw", "alternations", "rerun",
//                 "wrong"}]}
//
// Times are medians in microseconds, bandwidths GB/s; ratio = mpi_us /
// rondo_us; limit_fraction is null where it means nothing (memory_limits.h).
//
// Thread-safety: pure. Failure: none. Every text ends in a newline.
//
// Example:
//   fmt::print("{}{}", PreambleText(run), HeaderText(run));
//   for (const auto& result : run.results) fmt::print("{}", RowText(result,
//   2)); fmt::print("{}", SummaryText(run));
#pragma once

#include <string>

#include "perf/compare_mpi/result.h"

namespace rondo::perf {

// Lines that are not rows start with '#'.
std::string PreambleText(const ComparisonRun& run);
std::string HeaderText(const ComparisonRun& run);
// A '*' marks what was measured again.
std::string RowText(const CellResult& result, int ranks);
std::string SummaryText(const ComparisonRun& run);

// Of this layout; changes only when a key changes its meaning.
inline constexpr int kComparisonJsonVersion = 1;
std::string ComparisonJson(const ComparisonRun& run);

}  // namespace rondo::perf
