#include "perf/bench/one_rank.h"

#include <memory>

#include "fmt/format.h"
#include "perf/cli/exit_status.h"
#include "perf/cli/report_error.h"

namespace rondo::perf {

int RunOneRank(
    const std::function<Result<bool>(Communicator* communicator)>& body) {
  const Result<std::unique_ptr<Communicator>> joined =
      Communicator::FromEnvironment();
  if (!joined.ok()) return ReportError(joined.status());
  Communicator* communicator = joined->get();
  const Result<bool> right = body(communicator);
  if (right.ok()) return *right ? kExitOk : kExitFailed;
  communicator->Abort(right.status().message());
  return ReportError(
      right.status().WithContext(fmt::format("rank {}", communicator->rank())));
}

}  // namespace rondo::perf
