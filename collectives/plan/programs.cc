#include "collectives/plan/programs.h"

#include <algorithm>
#include <tuple>

#include "collectives/plan/step_text.h"
#include "fmt/format.h"

namespace rondo {
namespace {

// Whether the step has a counterpart at all; if so, its key.
template <typename Key>
bool KeyOf(const Step& step, StepId id, Key* key) {
  switch (step.kind) {
    case StepKind::kSend:
      *key = {false, id.rank, step.peer, step.message, false, id};
      return true;
    case StepKind::kRecv:
      *key = {false, step.peer, id.rank, step.message, true, id};
      return true;
    case StepKind::kSignal:
      *key = {true, id.rank, step.peer, step.flag, false, id};
      return true;
    case StepKind::kWait:
      *key = {true, step.peer, id.rank, step.flag, true, id};
      return IsFlagWait(step);
    default:
      return false;
  }
}

}  // namespace

std::string_view SectionName(Section section) {
  switch (section) {
    case Section::kPrologue:
      return "prologue";
    case Section::kChunk:
      return "chunk";
    case Section::kEpilogue:
      return "epilogue";
  }
  return "unknown";
}

Programs Programs::Of(const Shape& shape) {
  Programs programs;
  const int ranks = std::max(shape.ranks, 0);
  programs.programs_.reserve(ranks);
  programs.steps_.resize(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    programs.programs_.push_back(shape.ForRank(rank));
    programs.Place(rank);
  }
  programs.Match();
  return programs;
}

void Programs::Place(int rank) {
  const RankProgram& program = programs_[rank];
  steps_[rank].reserve(program.prologue.size() + program.chunk.size() +
                       program.epilogue.size());
  PlaceSection(rank, Section::kPrologue, program.prologue);
  PlaceSection(rank, Section::kChunk, program.chunk);
  PlaceSection(rank, Section::kEpilogue, program.epilogue);
}

void Programs::PlaceSection(int rank, Section section,
                            const std::vector<Step>& steps) {
  std::vector<PlacedStep>& placed = steps_[rank];
  const int start = static_cast<int>(placed.size());
  for (int index = 0; index < static_cast<int>(steps.size()); ++index) {
    const Step& step = steps[index];
    PlacedStep& added = placed.emplace_back();
    added.step = &step;
    added.section = section;
    added.index = index;
    const bool waits = step.kind == StepKind::kWait && step.waits_for >= 0 &&
                       step.waits_for < index;
    if (!waits) continue;
    const int target = start + step.waits_for;
    if (!IsTransfer(placed[target].step->kind)) continue;
    added.waits_for = target;
    added.unique = placed[target].waited_at < 0;
    if (added.unique) placed[target].waited_at = start + index;
  }
}

void Programs::Match() {
  std::vector<Key> keys;
  for (int rank = 0; rank < ranks(); ++rank) {
    for (int at = 0; at < static_cast<int>(steps_[rank].size()); ++at) {
      Key key;
      const StepId id{rank, at};
      if (KeyOf(*steps_[rank][at].step, id, &key)) keys.push_back(key);
    }
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    return std::tuple_cat(a.Pair(), std::tie(a.receives, a.id.at)) <
           std::tuple_cat(b.Pair(), std::tie(b.receives, b.id.at));
  });
  for (size_t i = 0; i < keys.size();) {
    size_t end = i + 1;
    while (end < keys.size() && keys[end].Pair() == keys[i].Pair()) ++end;
    MatchGroup(&keys[i], static_cast<int>(end - i));
    i = end;
  }
}

// Of each side the first one counts; a right plan has one of each.
void Programs::MatchGroup(const Key* keys, int count) {
  PlacedStep* first[2] = {nullptr, nullptr};  // sends, receives
  StepId id[2];
  for (int i = 0; i < count; ++i) {
    const bool side = keys[i].receives;
    PlacedStep& placed = steps_[keys[i].id.rank][keys[i].id.at];
    placed.unique = first[side] == nullptr;
    if (!placed.unique) continue;
    first[side] = &placed;
    id[side] = keys[i].id;
  }
  if (first[0] == nullptr || first[1] == nullptr) return;
  first[0]->counterpart = id[1];
  first[1]->counterpart = id[0];
}

std::string Programs::Describe(StepId id) const {
  const PlacedStep& placed = Get(id);
  return fmt::format("rank {}, {} step {} ({})", id.rank,
                     SectionName(placed.section), placed.index,
                     StepToText(*placed.step, id.rank));
}

}  // namespace rondo
