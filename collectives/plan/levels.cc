#include "collectives/plan/levels.h"

#include <algorithm>

namespace rondo {
namespace {

class LevelWalk {
 public:
  explicit LevelWalk(const Programs& programs)
      : programs_(programs),
        now_(programs.ranks(), 0),
        touched_until_(programs.ranks(), 0) {
    for (int rank = 0; rank < programs.ranks(); ++rank) {
      levels_.tick.emplace_back(programs.steps(rank).size(), -1);
    }
  }

  Levels Run(const Schedule& schedule) {
    for (StepId id : schedule.order) Visit(id);
    for (StepId id : schedule.order) MoveRecvToItsSend(id);
    return std::move(levels_);
  }

 private:
  int& Tick(StepId id) { return levels_.tick[id.rank][id.at]; }

  // The tick after the transfer; also keeps the longest chain.
  int After(int tick) {
    levels_.longest_chain = std::max(levels_.longest_chain, tick + 1);
    return tick + 1;
  }

  void Visit(StepId id) {
    const Step& step = *programs_.Get(id).step;
    int& now = now_[id.rank];
    switch (step.kind) {
      case StepKind::kSend:
      case StepKind::kPut:
      case StepKind::kSignal:
        Tick(id) = std::max(now, touched_until_[id.rank]);
        After(Tick(id));
        return;
      case StepKind::kWait:
        now = std::max(now, ArrivalOf(id));
        break;
      default:
        if (TouchesPeer(step, id.rank)) {
          touched_until_[id.rank] = std::max(touched_until_[id.rank],  //
                                             After(now));
        }
        break;
    }
    Tick(id) = now;
  }

  // When what this wait waits for has arrived. A finished send proves nothing
  // about its receiver, so it delays nobody.
  int ArrivalOf(StepId wait) {
    const PlacedStep& placed = programs_.Get(wait);
    if (IsFlagWait(*placed.step)) return Tick(placed.counterpart) + 1;
    if (placed.waits_for < 0) return 0;
    const StepId target{wait.rank, placed.waits_for};
    const PlacedStep& awaited = programs_.Get(target);
    if (awaited.step->kind == StepKind::kPut) return Tick(target) + 1;
    if (awaited.step->kind == StepKind::kSend) return 0;
    return Tick(awaited.counterpart) + 1;
  }

  // A recv happens when its data moves, not when it is posted.
  void MoveRecvToItsSend(StepId id) {
    const PlacedStep& placed = programs_.Get(id);
    if (placed.step->kind != StepKind::kRecv) return;
    Tick(id) = placed.counterpart.valid() ? Tick(placed.counterpart) : -1;
  }

  const Programs& programs_;
  std::vector<int> now_;            // by rank
  std::vector<int> touched_until_;  // by rank: end of its touches of peers
  Levels levels_;
};

}  // namespace

Levels LevelsOf(const Programs& programs, const Schedule& schedule) {
  return LevelWalk(programs).Run(schedule);
}

bool TouchesPeer(const Step& step, int rank) {
  const auto is_peers = [rank](const BlockRef& block) {
    return block.owner != rank;
  };
  return std::any_of(step.sources.begin(), step.sources.end(), is_peers) ||
         std::any_of(step.destinations.begin(), step.destinations.end(),
                     is_peers);
}

}  // namespace rondo
