#include "collectives/plan/plan.h"

#include <utility>

namespace rondo {

std::string_view CollectiveName(Collective collective) {
  switch (collective) {
    case Collective::kAllGather:
      return "all_gather";
    case Collective::kReduceScatter:
      return "reduce_scatter";
    case Collective::kShardedStep:
      return "sharded_step";
    case Collective::kBroadcast:
      return "broadcast";
    case Collective::kBarrier:
      return "barrier";
    case Collective::kReduceUpdate:
      return "reduce_update";
    case Collective::kUpdateGather:
      return "update_gather";
  }
  return "unknown";
}

std::string_view SpaceName(Space space) {
  switch (space) {
    case Space::kInput:
      return "input";
    case Space::kOutput:
      return "output";
    case Space::kScratch:
      return "scratch";
  }
  return "unknown";
}

std::string_view StepKindName(StepKind kind) {
  switch (kind) {
    case StepKind::kSend:
      return "send";
    case StepKind::kRecv:
      return "recv";
    case StepKind::kPut:
      return "put";
    case StepKind::kSignal:
      return "signal";
    case StepKind::kWait:
      return "wait";
    case StepKind::kCopy:
      return "copy";
    case StepKind::kReduce:
      return "reduce";
    case StepKind::kUpdate:
      return "update";
  }
  return "unknown";
}

BlockSpan BlocksOf(const Shape& shape, Space space, int rank) {
  if (space == Space::kScratch) {
    return {0, shape.ForRank(rank).scratch_blocks};
  }
  const bool input = space == Space::kInput;
  switch (shape.collective) {
    case Collective::kAllGather:
      return input ? BlockSpan{rank, 1} : BlockSpan{0, shape.ranks};
    case Collective::kReduceScatter:
      return input ? BlockSpan{0, shape.ranks} : BlockSpan{rank, 1};
    case Collective::kShardedStep:
      return {0, shape.ranks};
    case Collective::kReduceUpdate:
      return {0, input ? shape.ranks : 0};
    case Collective::kUpdateGather:
      return {0, input ? 0 : shape.ranks};
    case Collective::kBroadcast:
      return {0, input && rank != shape.root ? 0 : 1};
    case Collective::kBarrier:
      return {0, 0};
  }
  return {0, 0};
}

const BlockRef& BlocksThrough(const Step& step) {
  return step.destinations.empty() ? step.sources[0] : step.destinations[0];
}

int LogicalBlocks(const Shape& shape) {
  switch (shape.collective) {
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kShardedStep:
    case Collective::kReduceUpdate:
    case Collective::kUpdateGather:
      return shape.ranks;
    case Collective::kBroadcast:
      return 1;
    case Collective::kBarrier:
      return 0;
  }
  return 0;
}

int StepList::Send(BlockRef source, int peer, int message) {
  return Add({.kind = StepKind::kSend,
              .sources = {source},
              .destinations = {},
              .peer = peer,
              .message = message});
}

int StepList::Recv(BlockRef destination, int peer, int message) {
  return Add({.kind = StepKind::kRecv,
              .sources = {},
              .destinations = {destination},
              .peer = peer,
              .message = message});
}

int StepList::Put(BlockRef source, BlockRef destination) {
  return Add({.kind = StepKind::kPut,
              .sources = {source},
              .destinations = {destination},
              .peer = destination.owner});
}

int StepList::Copy(BlockRef source, BlockRef destination) {
  return Copy(source, std::vector<BlockRef>{destination});
}

int StepList::Copy(BlockRef source, std::vector<BlockRef> destinations) {
  return Add({.kind = StepKind::kCopy,
              .sources = {source},
              .destinations = std::move(destinations)});
}

int StepList::Reduce(std::vector<BlockRef> sources, BlockRef destination,
                     bool completes_sum) {
  return Add({.kind = StepKind::kReduce,
              .sources = std::move(sources),
              .destinations = {destination},
              .completes_sum = completes_sum});
}

int StepList::Update(std::vector<BlockRef> sources,
                     std::vector<BlockRef> destinations) {
  return Add({.kind = StepKind::kUpdate,
              .sources = std::move(sources),
              .destinations = std::move(destinations)});
}

int StepList::Signal(int peer, int flag) {
  Step step;
  step.kind = StepKind::kSignal;
  step.peer = peer;
  step.flag = flag;
  return Add(std::move(step));
}

int StepList::WaitStep(int step_index) {
  Step step;
  step.kind = StepKind::kWait;
  step.waits_for = step_index;
  return Add(std::move(step));
}

int StepList::WaitFlag(int peer, int flag) {
  Step step;
  step.kind = StepKind::kWait;
  step.peer = peer;
  step.flag = flag;
  return Add(std::move(step));
}

int StepList::Add(Step step) {
  steps_->push_back(std::move(step));
  return static_cast<int>(steps_->size()) - 1;
}

}  // namespace rondo
