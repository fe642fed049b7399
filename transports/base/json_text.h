// Writing JSON text: strings, correctly escaped.
//
// Results, plans and traces are written with a few appends each; a document
// tree would allocate for every value and is not needed for output.
//
// Thread-safety: pure functions. Failure: none; bytes that are not UTF-8 become
// the replacement character U+FFFD, so the output is always valid JSON.
//
// Example:
//   std::string out = "{";
//   AppendJsonString(&out, "name");
//   out += ":";
//   AppendJsonString(&out, host_name);
#pragma once

#include <string>
#include <string_view>

namespace rondo {

// `text` with its quotes.
void AppendJsonString(std::string* out, std::string_view text);

// How many bytes the UTF-8 sequence at the beginning of `text` has; 0 when
// there is none (empty, malformed, overlong, a surrogate, above U+10FFFF).
int Utf8SequenceBytes(std::string_view text);

}  // namespace rondo
