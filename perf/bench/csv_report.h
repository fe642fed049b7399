// The benchmark's rows as comma-separated values: one header line, then one
// line for each row and placement ("out_of_place", "in_place").
//
// Thread-safety: pure. Failure: none.
//
// Example:  RONDO_RETURN_IF_ERROR(WriteTextFile(path, CsvReport(run)));
#pragma once

#include <string>

#include "perf/bench/result.h"

namespace rondo::perf {

// `wrong` is empty where nothing was checked.
std::string CsvReport(const BenchmarkRun& run);

}  // namespace rondo::perf
