#include "collectives/plan/facts.h"

#include <algorithm>

#include "collectives/plan/levels.h"

namespace rondo {
namespace {

using Links = std::map<std::pair<int, int>, int64_t>;

// Messages are counted where they are sent, peer access where it is made.
void CountStep(const Step& step, int rank, Links* links) {
  if (step.kind == StepKind::kSend) {
    (*links)[{rank, step.peer}] += step.sources[0].count;
    return;
  }
  for (const BlockRef& source : step.sources) {
    if (source.owner != rank) (*links)[{source.owner, rank}] += source.count;
  }
  for (const BlockRef& destination : step.destinations) {
    if (destination.owner == rank) continue;
    (*links)[{rank, destination.owner}] += destination.count;
  }
}

}  // namespace

PlanFacts CountFacts(const Programs& programs, const Schedule& schedule) {
  PlanFacts facts;
  for (int rank = 0; rank < programs.ranks(); ++rank) {
    for (const PlacedStep& placed : programs.steps(rank)) {
      CountStep(*placed.step, rank, &facts.blocks_per_link);
      ++facts.total_steps;
    }
  }
  std::vector<int64_t> sent(programs.ranks());
  std::vector<int64_t> received(programs.ranks());
  for (const auto& [link, blocks] : facts.blocks_per_link) {
    sent[link.first] += blocks;
    received[link.second] += blocks;
  }
  facts.max_blocks_sent = *std::max_element(sent.begin(), sent.end());
  facts.max_blocks_received =
      *std::max_element(received.begin(), received.end());
  facts.longest_chain = LevelsOf(programs, schedule).longest_chain;
  return facts;
}

}  // namespace rondo
