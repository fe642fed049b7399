// Sizes as people write them: "64M" is 64,000,000 bytes, "64Mi" is 67,108,864.
//
// A size is a whole number with an optional unit: K, M, G, T (powers of 1000)
// or Ki, Mi, Gi, Ti (powers of 1024), in either case, with an optional final
// "B".
//
// Thread-safety: pure functions. Failure: an error that quotes the text and
// says what is accepted.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(int64_t chunk_bytes, ParseSize("256Ki"));
//   FormatSize(chunk_bytes);  // "256Ki"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "transports/base/status.h"

namespace rondo {

// Never negative.
Result<int64_t> ParseSize(std::string_view text);

// The shortest text that ParseSize turns back into exactly `bytes`; negative
// numbers are written as they are.
std::string FormatSize(int64_t bytes);

}  // namespace rondo
