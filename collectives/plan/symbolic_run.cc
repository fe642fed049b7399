#include "collectives/plan/symbolic_run.h"

#include <algorithm>

#include "collectives/plan/step_text.h"
#include "fmt/format.h"

namespace rondo {

SymbolicRun::SymbolicRun(const Shape& shape, const Programs& programs,
                         Placement placement)
    : shape_(shape),
      programs_(programs),
      memory_(shape, programs, placement),
      peers_(shape.ranks),
      clocks_(shape.ranks, VectorClock(shape.ranks, 0)),
      has_updated_(shape.ranks, false) {
  for (int rank = 0; rank < shape.ranks; ++rank) {
    clocks_[rank][rank] = 1;  // it has arrived
    departures_.emplace_back(programs.steps(rank).size());
  }
}

Status SymbolicRun::Run(const Schedule& schedule) {
  for (StepId id : schedule.order) {
    const auto& steps = programs_.steps(id.rank);
    const bool in_chunk = steps[id.at].section == Section::kChunk;
    ++clocks_[id.rank][id.rank];
    if (in_chunk) peers_.EnterChunk(id.rank, Now(id.rank).time);
    std::string problem = Execute(id);
    const bool last_of_chunk =
        in_chunk && (id.at + 1 == static_cast<int>(steps.size()) ||
                     steps[id.at + 1].section != Section::kChunk);
    if (problem.empty() && last_of_chunk) problem = FinishChunk(id.rank);
    if (!problem.empty()) {
      return InvalidArgument(programs_.Describe(id) + ": " + problem);
    }
  }
  std::string problem = peers_.CheckFinished();
  if (problem.empty()) problem = CheckUpdates();
  if (problem.empty()) problem = CheckBarrier();
  for (int rank = 0; rank < shape_.ranks && problem.empty(); ++rank) {
    problem = CheckOutput(rank);
  }
  return problem.empty() ? Status::Ok() : InvalidArgument(problem);
}

std::string SymbolicRun::Execute(StepId id) {
  const PlacedStep& placed = programs_.Get(id);
  const Step& step = *placed.step;
  switch (step.kind) {
    case StepKind::kSend:
      return StartSend(id, step);
    case StepKind::kRecv:
      return StartRecv(id, step);
    case StepKind::kPut:
      return StartPut(id, step);
    case StepKind::kSignal:
      return DoSignal(id, step);
    case StepKind::kWait:
      return DoWait(id, placed);
    case StepKind::kCopy:
    case StepKind::kReduce:
    case StepKind::kUpdate:
      return DoLocal(id, step);
  }
  return "is of no known kind";
}

std::string SymbolicRun::StartSend(StepId id, const Step& step) {
  std::string problem = StartReading(id, step.sources[0]);
  DepartureOf(id).clock = clocks_[id.rank];
  return problem;
}

std::string SymbolicRun::StartRecv(StepId id, const Step& step) {
  return StartWriting(id, step.destinations[0]);
}

std::string SymbolicRun::StartPut(StepId id, const Step& step) {
  std::string problem = StartReading(id, step.sources[0]);
  if (problem.empty()) problem = StartWriting(id, step.destinations[0]);
  peers_.PutStarted(id.rank, step.peer);
  return problem;
}

std::string SymbolicRun::DoSignal(StepId id, const Step& step) {
  DepartureOf(id).clock = clocks_[id.rank];
  if (step.flag != kDoneFlag) return "";
  return peers_.DoneSignalled(id.rank, step.peer);
}

std::string SymbolicRun::DoWait(StepId id, const PlacedStep& placed) {
  if (placed.waits_for < 0) {
    const Step& flag = *placed.step;
    Learn(id.rank, DepartureOf(placed.counterpart).clock);
    if (flag.flag == kReadyFlag) peers_.ReadyAwaited(id.rank, flag.peer);
    if (flag.flag == kDoneFlag) peers_.DoneAwaited(id.rank, flag.peer);
    return "";
  }
  const StepId started{id.rank, placed.waits_for};
  const PlacedStep& transfer = programs_.Get(started);
  const Step& step = *transfer.step;
  if (step.kind == StepKind::kRecv) {
    Departure& arrived = DepartureOf(transfer.counterpart);
    Learn(id.rank, arrived.clock);
    FinishWriting(started, step.destinations[0], arrived.values);
    arrived = Departure();
    return "";
  }
  FinishReading(started, step.sources[0]);
  if (step.kind == StepKind::kPut) {
    FinishWriting(started, step.destinations[0], DepartureOf(started).values);
    peers_.PutFinished(id.rank, step.peer);
  }
  return "";
}

std::string SymbolicRun::DoLocal(StepId id, const Step& step) {
  std::string problem = CheckOverlap(step, id.rank);
  if (!problem.empty()) return problem;
  if (step.kind == StepKind::kUpdate) {
    if (has_updated_[id.rank]) return "updates this shard for the second time";
    has_updated_[id.rank] = true;
  }
  for (int k = 0; k < BlocksThrough(step).count; ++k) {
    std::vector<SymbolicValue> values(step.sources.size());
    for (size_t i = 0; i < step.sources.size(); ++i) {
      problem = ReadBlock(id.rank, step.sources[i].At(k), &values[i]);
      if (!problem.empty()) return problem;
    }
    SymbolicValue result;
    problem = CombineValues(shape_, step, id.rank, values, &result);
    if (!problem.empty()) return problem;
    for (const BlockRef& destination : step.destinations) {
      const BlockRef block = destination.At(k);
      // In place, this copy has nothing to do.
      const bool elided =
          step.kind == StepKind::kCopy &&
          &memory_.At(block) == &memory_.At(step.sources[0].At(k));
      if (elided) continue;
      problem = WriteBlock(id.rank, block);
      if (!problem.empty()) return problem;
      memory_.At(block).value = result;
    }
  }
  return "";
}

// The next chunk index may use this scratch again, so whoever else touched it
// must be known to have finished.
std::string SymbolicRun::FinishChunk(int rank) {
  peers_.LeaveChunk(rank);
  for (int index = 0; index < programs_.scratch_blocks(rank); ++index) {
    const BlockRef block{
        .space = Space::kScratch, .owner = rank, .index = index};
    const Cell& cell = memory_.At(block);
    std::vector<Touch> touches = cell.reads;
    if (cell.last_write.rank >= 0) touches.push_back(cell.last_write);
    for (const Touch& touch : touches) {
      if (touch.KnownTo(clocks_[rank]) && !cell.arriving.valid()) continue;
      return fmt::format(
          "ends the chunk while rank {} may still be touching "
          "{}",
          touch.rank, BlockToText(block, rank));
    }
  }
  return "";
}

// Outputs show a missing update too, but a reduce_update has none.
std::string SymbolicRun::CheckUpdates() const {
  if (!HasUpdate(shape_.collective)) return "";
  for (int rank = 0; rank < shape_.ranks; ++rank) {
    if (!has_updated_[rank]) {
      return fmt::format("rank {} never updates its shard", rank);
    }
  }
  return "";
}

std::string SymbolicRun::CheckBarrier() const {
  if (shape_.collective != Collective::kBarrier) return "";
  for (int rank = 0; rank < shape_.ranks; ++rank) {
    for (int other = 0; other < shape_.ranks; ++other) {
      if (clocks_[rank][other] > 0) continue;
      return fmt::format(
          "rank {} may leave the barrier before rank {} has "
          "arrived",
          rank, other);
    }
  }
  return "";
}

std::string SymbolicRun::CheckOutput(int rank) {
  const BlockSpan span = BlocksOf(shape_, Space::kOutput, rank);
  for (int index = span.first; index < span.first + span.count; ++index) {
    const BlockRef block{
        .space = Space::kOutput, .owner = rank, .index = index};
    SymbolicValue value = memory_.At(block).value;
    const SymbolicValue want = OutputValue(shape_, rank, index);
    // Whether an updated sum had been averaged before is the update's affair.
    if (value.updated) value.completed = false;
    if (value == want) continue;
    return fmt::format(
        "rank {}: {} ends with {}; want {}", rank, BlockToText(block, rank),
        ValueToText(value, shape_.ranks), ValueToText(want, shape_.ranks));
  }
  return "";
}

std::string SymbolicRun::ReadBlock(int rank, const BlockRef& block,
                                   SymbolicValue* value) {
  std::string problem = peers_.CheckTouch(rank, block, clocks_[rank]);
  if (!problem.empty()) return problem;
  Cell& cell = memory_.At(block);
  problem = memory_.Read(&cell, Now(rank), clocks_[rank]);
  if (!problem.empty()) return BlockToText(block, rank) + " " + problem;
  *value = cell.value;
  if (block.space != Space::kScratch || cell.value.block == block.block) {
    return "";
  }
  return fmt::format("{} holds {}", BlockToText(block, rank),
                     ValueToText(cell.value, shape_.ranks));
}

std::string SymbolicRun::WriteBlock(int rank, const BlockRef& block) {
  std::string problem = peers_.CheckTouch(rank, block, clocks_[rank]);
  if (!problem.empty()) return problem;
  if (memory_.IsInput(block)) {
    return BlockToText(block, rank) + " is an input and must not be written";
  }
  problem = memory_.Write(&memory_.At(block), Now(rank), clocks_[rank]);
  return problem.empty() ? "" : BlockToText(block, rank) + " " + problem;
}

// A step may write the very block it reads; anything else would depend on the
// order in which a step goes through its blocks.
std::string SymbolicRun::CheckOverlap(const Step& step, int rank) {
  const int count = BlocksThrough(step).count;
  const bool update = step.kind == StepKind::kUpdate;
  if (count == 1 && step.destinations.size() == 1 && !update) return "";
  for (size_t d = 0; d < step.destinations.size(); ++d) {
    for (int k = 0; k < count; ++k) {
      const BlockRef block = step.destinations[d].At(k);
      const Cell* written = &memory_.At(block);
      const auto clashes = [&](const BlockRef& other, bool may_be_same) {
        for (int j = 0; j < count; ++j) {
          if (may_be_same && j == k) continue;
          if (&memory_.At(other.At(j)) == written) return true;
        }
        return false;
      };
      for (const BlockRef& source : step.sources) {
        if (clashes(source, !update)) {
          return BlockToText(block, rank) + " is both read and written";
        }
      }
      for (size_t e = 0; e < d; ++e) {
        if (clashes(step.destinations[e], false)) {
          return BlockToText(block, rank) + " is written twice";
        }
      }
    }
  }
  return "";
}

std::string SymbolicRun::StartReading(StepId id, const BlockRef& source) {
  for (int k = 0; k < source.count; ++k) {
    SymbolicValue value;
    std::string problem = ReadBlock(id.rank, source.At(k), &value);
    if (!problem.empty()) return problem;
    DepartureOf(id).values.push_back(std::move(value));
    memory_.At(source.At(k)).leaving.push_back(id);
  }
  return "";
}

void SymbolicRun::FinishReading(StepId id, const BlockRef& source) {
  for (int k = 0; k < source.count; ++k) {
    Cell& cell = memory_.At(source.At(k));
    std::erase(cell.leaving, id);
    // The reading lasted until now; ours is the only entry of this rank.
    for (Touch& read : cell.reads) {
      if (read.rank == id.rank) read = Now(id.rank);
    }
  }
}

std::string SymbolicRun::StartWriting(StepId id, const BlockRef& destination) {
  for (int k = 0; k < destination.count; ++k) {
    std::string problem = WriteBlock(id.rank, destination.At(k));
    if (!problem.empty()) return problem;
    memory_.At(destination.At(k)).arriving = id;
  }
  return "";
}

void SymbolicRun::FinishWriting(StepId id, const BlockRef& destination,
                                const std::vector<SymbolicValue>& values) {
  for (int k = 0; k < destination.count; ++k) {
    Cell& cell = memory_.At(destination.At(k));
    cell.arriving = StepId();
    cell.last_write = Now(id.rank);
    cell.value = values[k];
  }
}

void SymbolicRun::Learn(int rank, const VectorClock& clock) {
  VectorClock& mine = clocks_[rank];
  for (size_t i = 0; i < mine.size(); ++i) {
    mine[i] = std::max(mine[i], clock[i]);
  }
}

}  // namespace rondo
