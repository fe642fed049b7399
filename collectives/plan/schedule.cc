#include "collectives/plan/schedule.h"

#include "fmt/format.h"

namespace rondo {
namespace {

// Runs each rank as far as it goes and wakes those that waited for it.
class Scheduler {
 public:
  explicit Scheduler(const Programs& programs)
      : programs_(programs),
        next_(programs.ranks(), 0),
        waiting_for_(programs.ranks()) {}

  Schedule Run() {
    for (int rank = programs_.ranks() - 1; rank >= 0; --rank) {
      runnable_.push_back(rank);
    }
    while (!runnable_.empty()) {
      const int rank = runnable_.back();
      runnable_.pop_back();
      Advance(rank);
    }
    for (int rank = 0; rank < programs_.ranks(); ++rank) {
      if (!AtEnd(rank)) schedule_.stuck.push_back({rank, next_[rank]});
    }
    return std::move(schedule_);
  }

 private:
  bool AtEnd(int rank) const {
    return next_[rank] == static_cast<int>(programs_.steps(rank).size());
  }

  // The step of another rank that must come first; not valid when none does.
  StepId DependsOn(const PlacedStep& placed, int rank) const {
    if (IsFlagWait(*placed.step)) return placed.counterpart;
    return programs_.steps(rank)[placed.waits_for].counterpart;
  }

  // Whether the step would never be finished: nobody does the other part.
  bool Blocks(const PlacedStep& placed, int rank, StepId* on) const {
    if (placed.step->kind != StepKind::kWait) return false;
    if (!IsFlagWait(*placed.step)) {
      // A malformed wait has nothing to wait for; a put needs no other rank.
      if (placed.waits_for < 0) return false;
      const Step& awaited = *programs_.steps(rank)[placed.waits_for].step;
      if (awaited.kind == StepKind::kPut) return false;
    }
    *on = DependsOn(placed, rank);
    return !on->valid() || on->at >= next_[on->rank];
  }

  void Advance(int rank) {
    const int start = next_[rank];
    while (!AtEnd(rank)) {
      StepId on;
      if (Blocks(programs_.steps(rank)[next_[rank]], rank, &on)) {
        if (on.valid()) waiting_for_[on.rank].push_back(rank);
        break;
      }
      schedule_.order.push_back({rank, next_[rank]++});
    }
    if (next_[rank] == start) return;
    for (int waiter : waiting_for_[rank]) runnable_.push_back(waiter);
    waiting_for_[rank].clear();
  }

  const Programs& programs_;
  std::vector<int> next_;
  std::vector<std::vector<int>> waiting_for_;  // ranks, by whom they wait for
  std::vector<int> runnable_;
  Schedule schedule_;
};

std::string DescribeStuck(const Programs& programs, StepId id) {
  std::string text = programs.Describe(id);
  const int awaited = programs.Get(id).waits_for;
  if (awaited >= 0) {
    text += ", which is " + programs.Describe({id.rank, awaited});
  }
  return text;
}

}  // namespace

Schedule MakeSchedule(const Programs& programs) {
  return Scheduler(programs).Run();
}

std::string DescribeDeadlock(const Programs& programs,
                             const Schedule& schedule) {
  std::string text = fmt::format("deadlock: {} of {} ranks never finish",
                                 schedule.stuck.size(), programs.ranks());
  for (StepId id : schedule.stuck) {
    text += "; stuck at " + DescribeStuck(programs, id);
  }
  return text;
}

}  // namespace rondo
