// Comparing a benchmark's run with the JSON report of an earlier one, so that a
// size that got slower can fail somebody's build.
//
// A row of both runs is the same size, type, reduction and root. Its time is
// the mean on the slowest rank, out of place and in place apart.
//
// Thread-safety: pure, but for reading the file. Failure: a file that cannot be
// read, is no such report, or is that of another command is kInvalidArgument,
// with the path and what is wrong in it.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(Baseline base, LoadBaseline("base.json"));
//   RONDO_RETURN_IF_ERROR(base.CheckSameCommand("all_gather", "user"));
//   const BaselineVerdict verdict = CompareWithBaseline(run, base, 10);
//   fmt::print("{}", VerdictText(verdict));
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "perf/bench/result.h"
#include "transports/base/status.h"

namespace rondo::perf {

// What makes two measurements comparable.
struct BaselineKey {
  size_t size = 0;
  std::string type;
  std::string redop;
  int root = -1;
  bool in_place = false;

  auto operator<=>(const BaselineKey&) const = default;
};

struct Baseline {
  std::string path;
  std::string collective;
  std::string buffers;
  int ranks = 0;
  std::map<BaselineKey, double> times_us;

  // Whether it is a report of this command; `collective` as in "all_gather".
  Status CheckSameCommand(std::string_view collective,
                          std::string_view buffers) const;
  Status CheckSameRanks(int ranks) const;
};

Result<Baseline> LoadBaseline(const std::string& path);
// `path` is for messages only.
Result<Baseline> ParseBaseline(const std::string& path, std::string_view text);

struct BaselineVerdict {
  struct Row {
    BaselineKey key;
    double base_us = 0;
    double now_us = 0;
    bool slower = false;  // by more than the tolerance

    // By how many percent the time grew; negative where it fell.
    double growth_pct() const { return (now_us / base_us - 1) * 100; }
  };

  std::string path;
  int tolerance_pct = 0;
  std::vector<Row> rows;                  // measured in both
  std::vector<BaselineKey> only_in_base;  // not measured now
  std::vector<BaselineKey> only_now;      // not in the base

  int slower() const;  // how many rows
};

BaselineVerdict CompareWithBaseline(const BenchmarkRun& run,
                                    const Baseline& base, int tolerance_pct);

// A table of every row, and a last line that says how it ends; all lines start
// with '#'.
std::string VerdictText(const BaselineVerdict& verdict);

}  // namespace rondo::perf
