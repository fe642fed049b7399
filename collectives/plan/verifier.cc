#include "collectives/plan/verifier.h"

#include <vector>

#include "collectives/plan/facts.h"
#include "collectives/plan/programs.h"
#include "collectives/plan/schedule.h"
#include "collectives/plan/structure.h"
#include "collectives/plan/symbolic_run.h"
#include "fmt/format.h"

namespace rondo {
namespace {

bool HasInPlaceForm(Collective collective) {
  return collective == Collective::kAllGather ||
         collective == Collective::kReduceScatter ||
         collective == Collective::kBroadcast;
}

std::string_view PlacementName(Placement placement) {
  return placement == Placement::kInPlace ? "in place" : "out of place";
}

Result<PlanFacts> Verify(const Shape& shape,
                         const std::vector<Placement>& placements) {
  RONDO_RETURN_IF_ERROR(CheckShapeFields(shape));
  const Programs programs = Programs::Of(shape);
  RONDO_RETURN_IF_ERROR(CheckStructure(shape, programs));
  const Schedule schedule = MakeSchedule(programs);
  if (!schedule.stuck.empty()) {
    return InvalidArgument(DescribeDeadlock(programs, schedule));
  }
  for (Placement placement : placements) {
    Status status = SymbolicRun(shape, programs, placement).Run(schedule);
    if (!status.ok()) return status.WithContext(PlacementName(placement));
  }
  return CountFacts(programs, schedule);
}

// Says which shape an error is about.
Result<PlanFacts> Named(const Shape& shape, Result<PlanFacts> result) {
  if (result.ok()) return result;
  return result.status().WithContext(
      fmt::format("{} {} of {} ranks", shape.algorithm,
                  CollectiveName(shape.collective), shape.ranks));
}

}  // namespace

Result<PlanFacts> VerifyShape(const Shape& shape, Placement placement) {
  if (placement == Placement::kInPlace && !HasInPlaceForm(shape.collective)) {
    return InvalidArgument(fmt::format("{} has no in-place form",
                                       CollectiveName(shape.collective)));
  }
  return Named(shape, Verify(shape, {placement}));
}

Result<PlanFacts> VerifyShape(const Shape& shape) {
  std::vector<Placement> placements = {Placement::kOutOfPlace};
  if (HasInPlaceForm(shape.collective)) {
    placements.push_back(Placement::kInPlace);
  }
  return Named(shape, Verify(shape, placements));
}

}  // namespace rondo
