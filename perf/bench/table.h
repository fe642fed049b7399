// The benchmark's text: nccl-tests' columns, so that what reads those reads
// these. Lines that are not results start with '#'.
//
// Thread-safety: pure functions. Failure: none. Every text ends in a newline.
//
// Example:
//   fmt::print("{}{}", PreambleText(run), HeaderText(percentiles));
//   for (...) fmt::print("{}", RowText(row, percentiles));
//   fmt::print("{}", SummaryText(run));
#pragma once

#include <string>

#include "perf/bench/result.h"

namespace rondo::perf {

// Version, sizes, transport and one line per rank.
std::string PreambleText(const BenchmarkRun& run);
// `percentiles` adds p50, p95 and p99 to each half of the table.
std::string HeaderText(bool percentiles);
std::string RowText(const ResultRow& row, bool percentiles);
std::string SummaryText(const BenchmarkRun& run);

// `value` in about `width` characters: 1.23, 123.4, 12345.
std::string FixedWidth(double value, int width);

}  // namespace rondo::perf
