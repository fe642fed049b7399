// SvgPlot: a comparison as a picture that any browser shows.
//
// A panel for each collective and place: bytes on x (logarithmic), bus
// bandwidth on y, a line for each library and kind of buffer, and the memory
// limit dashed.
//
// Thread-safety: pure. Failure: none; no results give a picture that says so.
//
// Example:  RONDO_RETURN_IF_ERROR(WriteTextFile(path, SvgPlot(run)));
#pragma once

#include <string>

#include "perf/compare_mpi/result.h"

namespace rondo::perf {

std::string SvgPlot(const ComparisonRun& run);

}  // namespace rondo::perf
