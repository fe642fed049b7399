// What ucx_perftest printed, as numbers.
//
// Releases differ in what stands before the figures ("Final:", "[thread 0]" or
// nothing), not in the figures: the last line that ends in eight numbers is the
// result. Its bandwidths are in 2^20 bytes per second.
//
// Thread-safety: pure functions. Failure: kTransport with the end of the text,
// which is where ucx_perftest says what went wrong.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto figures, ParsePerftest(printed));
#pragma once

#include <cstdint>
#include <string_view>

#include "transports/base/status.h"

namespace rondo::perf {

struct PerftestFigures {
  int64_t iterations = 0;
  double median_us = 0;  // tag_lat: one way
  double overall_us = 0;
  double overall_gbs = 0;  // 10^9 bytes per second
};

Result<PerftestFigures> ParsePerftest(std::string_view text);

}  // namespace rondo::perf
