#include "perf/cli/progress_line.h"

#include <unistd.h>

#include "fmt/format.h"

namespace rondo::perf {
namespace {

// Return to the first column and erase the line (ECMA-48).
constexpr char kErase[] = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine(bool wanted)
    : enabled_(wanted && isatty(STDERR_FILENO) != 0) {}

void ProgressLine::Show(std::string_view text) {
  if (!enabled_) return;
  fmt::print(stderr, "{}{}", kErase, text);
  shown_ = true;
}

void ProgressLine::Clear() {
  if (!shown_) return;
  fmt::print(stderr, "{}", kErase);
  shown_ = false;
}

}  // namespace rondo::perf
