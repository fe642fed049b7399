// Conformance: drives any NCCL net plugin as NCCL does, and says what is wrong.
//
// Every check runs in a process of its own with a deadline: a crash or a hang
// is a finding like any other. The calling process never loads the plugin.
//
// Thread-safety: call from a process with one thread, since it forks.
// Ownership: values. Failure: an Error only when nothing could be checked (the
// plugin cannot be loaded, an unknown check); what a plugin does wrong is in
// the report.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto report, RunConformance({.path = path}));
//   fmt::print("{}", ConformanceText(report));
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plugin/check/check.h"
#include "transports/base/status.h"

namespace rondo::plugin {

struct ConformanceOptions {
  std::string path;
  int version = 0;  // 0: all that it exports
  int device = 0;
  std::vector<std::string> checks = {};       // empty: all
  std::vector<std::string> environment = {};  // NAME=VALUE, for the plugin
  std::string failing_environment = {};       // NAME=VALUE that fails init()
  int timeout_s = 60;                         // of one check
};

enum class Outcome { kPassed, kFailed, kSkipped };

struct ConformanceRow {
  int version;
  std::string check;
  Outcome outcome;
  std::string detail;  // of a failed or skipped one
};

// `seen` (may be empty) is called with each row as it comes.
Result<std::vector<ConformanceRow>> RunConformance(
    const ConformanceOptions& options,
    const std::function<void(const ConformanceRow&)>& seen = {});

// For people: one line per check, then what failed; and a last line of totals.
std::string ConformanceText(const std::vector<ConformanceRow>& rows);
// [{"version", "check", "status", "detail"}]
std::string ConformanceJson(const std::vector<ConformanceRow>& rows);
// Every check with its reason.
std::string ChecksText();

}  // namespace rondo::plugin
