// ProgressLine: one line on stderr that overwrites itself, for a person who
// waits. It says nothing unless stderr is a terminal.
//
// Thread-safety: one thread. Failure: none.
//
// Example:
//   ProgressLine progress(rank == 0);
//   progress.Show("all_gather float 64Mi: timing");
//   progress.Clear();  // before printing anything else
#pragma once

#include <string_view>

namespace rondo::perf {

class ProgressLine {
 public:
  explicit ProgressLine(bool wanted);
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(std::string_view text);
  void Clear();

 private:
  bool enabled_;
  bool shown_ = false;
};

}  // namespace rondo::perf
