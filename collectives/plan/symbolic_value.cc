#include "collectives/plan/symbolic_value.h"

#include "fmt/format.h"

namespace rondo {
namespace {

constexpr int kMostRanksListed = 8;

}  // namespace

std::string ValueToText(const SymbolicValue& value, int ranks) {
  if (value.block < 0) return "nothing";
  std::string list;
  int listed = 0;
  for (int rank = 0; rank < ranks && listed < kMostRanksListed; ++rank) {
    if (!value.contributions.Has(rank)) continue;
    list += fmt::format("{}{}", listed++ == 0 ? "" : ", ", rank);
  }
  const int size = value.contributions.Size();
  if (size > listed) list += fmt::format(" and {} more", size - listed);
  std::string text = fmt::format("block {} of {} {}", value.block,
                                 size == 1 ? "rank" : "ranks", list);
  if (value.completed) text += ", sum completed";
  if (value.updated) text += ", updated";
  return text;
}

SymbolicValue InputValue(const Shape& shape, int rank, int index) {
  SymbolicValue value;
  value.block = index;
  value.contributions = RankSet::Only(rank, shape.ranks);
  return value;
}

SymbolicValue OutputValue(const Shape& shape, int rank, int index) {
  SymbolicValue value;
  value.block = index;
  switch (shape.collective) {
    case Collective::kAllGather:
      value.contributions = RankSet::Only(index, shape.ranks);
      break;
    case Collective::kBroadcast:
      value.contributions = RankSet::Only(shape.root, shape.ranks);
      break;
    case Collective::kReduceScatter:
      value.block = rank;
      value.completed = true;
      value.contributions = RankSet::All(shape.ranks);
      break;
    case Collective::kShardedStep:
    case Collective::kUpdateGather:
      value.updated = true;
      value.contributions = RankSet::All(shape.ranks);
      break;
    case Collective::kReduceUpdate:
    case Collective::kBarrier:
      break;
  }
  return value;
}

std::string CombineValues(const Shape& shape, const Step& step, int rank,
                          const std::vector<SymbolicValue>& sources,
                          SymbolicValue* result) {
  if (sources.empty()) {
    // What an update kept of the reduce_update before: its own shard's sum.
    const int block = BlocksThrough(step).LogicalBlock();
    if (block != rank) {
      return fmt::format("updates block {}, which is rank {}'s shard", block,
                         block);
    }
    *result = {.block = rank,
               .contributions = RankSet::All(shape.ranks),
               .updated = true};
    return "";
  }
  *result = sources[0];
  if (step.kind == StepKind::kCopy) return "";
  for (size_t i = 0; i < sources.size(); ++i) {
    const SymbolicValue& source = sources[i];
    if (source.updated) {
      return fmt::format("block {} was updated already", source.block);
    }
    if (source.completed && step.kind == StepKind::kReduce) {
      return fmt::format("the sum of block {} was completed already",
                         source.block);
    }
    if (i == 0) continue;
    if (source.block != result->block) {
      return fmt::format("sums different blocks: {} and {}", result->block,
                         source.block);
    }
    const int twice = result->contributions.FirstCommon(source.contributions);
    if (twice >= 0) {
      return fmt::format(
          "the contribution of rank {} to block {} is summed "
          "twice",
          twice, source.block);
    }
    result->contributions.Add(source.contributions);
  }
  const int missing = shape.ranks - result->contributions.Size();
  const bool update = step.kind == StepKind::kUpdate;
  if (missing > 0 && (update || step.completes_sum)) {
    return fmt::format("{} before its sum is complete: it has {}",
                       update ? "updates a block" : "completes a block",
                       ValueToText(*result, shape.ranks));
  }
  if (update && result->block != rank) {
    return fmt::format("updates block {}, which is rank {}'s shard",
                       result->block, result->block);
  }
  result->completed = result->completed || step.completes_sum;
  result->updated = update;
  return "";
}

}  // namespace rondo
