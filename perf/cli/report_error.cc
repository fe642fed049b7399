#include "perf/cli/report_error.h"

#include "fmt/format.h"

namespace rondo::perf {

int ReportError(const Status& status) {
  fmt::print(stderr, "rondo: {}\n", status.message());
  const bool usage = status.code() == Code::kInvalidArgument ||
                     status.code() == Code::kInvalidUsage;
  return usage ? kExitUsage : kExitFailed;
}

}  // namespace rondo::perf
