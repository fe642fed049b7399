#include "perf/plan/explain.h"

#include "fmt/format.h"
#include "perf/bench/sweep.h"

namespace rondo::perf {

std::string ExplanationText(const std::vector<PredictedWay>& ways) {
  std::string text;
  int place = 0;
  for (const PredictedWay& way : ways) {
    std::string remark =
        way.why_not.empty() ? "" : "not possible: " + way.why_not;
    if (way.why_not.empty() && place == 0) remark = "the choice";
    if (way.why_not.empty() && place == 1) remark = "the runner-up";
    ++place;
    text += fmt::format("  {:<26} {:>12.2f} us  {}\n", HostWayName(way.way),
                        way.us, remark);
  }
  return text;
}

Status Explain(Communicator* communicator, Collective collective,
               int64_t bytes) {
  CollectiveCall call;
  call.collective = collective;
  call.count = RoundedCount(bytes, communicator->world_size(), sizeof(float));
  for (const bool mapped : {false, true}) {
    RONDO_ASSIGN_OR_RETURN(const auto ways,
                           communicator->Explain(call, mapped));
    if (communicator->rank() != 0) continue;
    fmt::print("{} of {} bytes between {} ranks, {} memory:\n{}",
               CollectiveName(collective),
               call.count * sizeof(float) * communicator->world_size(),
               communicator->world_size(), mapped ? "symmetric" : "ordinary",
               ExplanationText(ways));
  }
  return Status::Ok();
}

}  // namespace rondo::perf
