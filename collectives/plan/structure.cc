#include "collectives/plan/structure.h"

#include <cstdint>
#include <string>

#include "collectives/plan/step_text.h"
#include "fmt/format.h"

namespace rondo {
namespace {

// How many operands a kind of step has; -1: one or more.
struct Operands {
  int sources;
  int destinations;
};

Operands OperandsOf(StepKind kind, Collective collective) {
  switch (kind) {
    case StepKind::kSend:
      return {1, 0};
    case StepKind::kRecv:
      return {0, 1};
    case StepKind::kPut:
      return {1, 1};
    case StepKind::kCopy:
      return {1, -1};
    case StepKind::kReduce:
      return {-1, 1};
    case StepKind::kUpdate:
      return {collective == Collective::kUpdateGather ? 0 : -1,
              collective == Collective::kReduceUpdate ? 0 : -1};
    case StepKind::kSignal:
    case StepKind::kWait:
      break;
  }
  return {0, 0};
}

bool FitsCount(size_t actual, int expected) {
  return expected < 0 ? actual >= 1 : actual == static_cast<size_t>(expected);
}

// Checks the steps of one rank. Each Check returns what is wrong, or nothing.
class RankChecker {
 public:
  RankChecker(const Shape& shape, const Programs& programs, int rank)
      : shape_(shape), programs_(programs), rank_(rank) {}

  Status Run() const {
    const auto& steps = programs_.steps(rank_);
    if (programs_.scratch_blocks(rank_) < 0) {
      return InvalidArgument(
          fmt::format("rank {}: {} scratch blocks; want >= 0", rank_,
                      programs_.scratch_blocks(rank_)));
    }
    for (int at = 0; at < static_cast<int>(steps.size()); ++at) {
      const std::string problem = CheckStep(steps[at]);
      if (problem.empty()) continue;
      return InvalidArgument(programs_.Describe({rank_, at}) + ": " + problem);
    }
    return Status::Ok();
  }

 private:
  std::string CheckStep(const PlacedStep& placed) const {
    const Step& step = *placed.step;
    // In this order: later checks rely on what earlier ones have established.
    std::string problem = CheckKind(step);
    if (problem.empty()) problem = CheckSection(placed);
    if (problem.empty()) problem = CheckPeer(step);
    if (problem.empty()) problem = CheckNumbers(step);
    if (problem.empty()) problem = CheckBlocks(step);
    if (problem.empty()) problem = CheckOwners(step);
    if (problem.empty()) problem = CheckWait(placed);
    if (problem.empty()) problem = CheckPairing(placed);
    return problem;
  }

  // Operands, and whether this collective has use for the step.
  std::string CheckKind(const Step& step) const {
    const Operands want = OperandsOf(step.kind, shape_.collective);
    if (!FitsCount(step.sources.size(), want.sources) ||
        !FitsCount(step.destinations.size(), want.destinations)) {
      return fmt::format("has {} and {}",
                         CountToText(step.sources.size(), "source"),
                         CountToText(step.destinations.size(), "destination"));
    }
    const bool sums = shape_.collective == Collective::kReduceScatter ||
                      shape_.collective == Collective::kShardedStep ||
                      shape_.collective == Collective::kReduceUpdate;
    const bool allowed = step.kind == StepKind::kReduce ? sums
                         : step.kind == StepKind::kUpdate
                             ? HasUpdate(shape_.collective)
                             : true;
    if (!allowed) {
      return fmt::format("{} has no use for {}",
                         CollectiveName(shape_.collective),
                         StepKindName(step.kind));
    }
    if (step.completes_sum && step.kind != StepKind::kReduce) {
      return "only a reduce can complete a sum";
    }
    return "";
  }

  // Flags are raised once per call; what moves data runs for every chunk.
  std::string CheckSection(const PlacedStep& placed) const {
    const Step& step = *placed.step;
    const bool flag = step.kind == StepKind::kSignal || IsFlagWait(step);
    const bool chunk = placed.section == Section::kChunk;
    if (flag && chunk) {
      return "a flag is raised once per call, so not in the chunk section";
    }
    if (!flag && !chunk) {
      return "only signals and waits for flags may stand outside of the chunk "
             "section";
    }
    if (chunk && LogicalBlocks(shape_) == 0) {
      return fmt::format("{} has no blocks, so its chunk section never runs",
                         CollectiveName(shape_.collective));
    }
    return "";
  }

  std::string CheckPeer(const Step& step) const {
    const bool has_peer = step.kind == StepKind::kSend ||
                          step.kind == StepKind::kRecv ||
                          step.kind == StepKind::kPut ||
                          step.kind == StepKind::kSignal || IsFlagWait(step);
    if (!has_peer) return "";
    if (step.peer < 0 || step.peer >= shape_.ranks) {
      return fmt::format("peer {} is out of range; want 0..{}", step.peer,
                         shape_.ranks - 1);
    }
    return step.peer == rank_ ? "a rank is not its own peer" : "";
  }

  std::string CheckNumbers(const Step& step) const {
    const bool message =
        step.kind == StepKind::kSend || step.kind == StepKind::kRecv;
    if (message && step.message < 0) {
      return fmt::format("message number {} is negative", step.message);
    }
    const bool flag = step.kind == StepKind::kSignal || IsFlagWait(step);
    if (flag && (step.flag < 0 || step.flag >= kMaxFlags)) {
      return fmt::format("flag {} is out of range; want 0..{}", step.flag,
                         kMaxFlags - 1);
    }
    return "";
  }

  std::string CheckBlocks(const Step& step) const {
    int count = -1;
    for (const auto* operands : {&step.sources, &step.destinations}) {
      for (const BlockRef& block : *operands) {
        std::string problem = CheckBlock(block);
        if (!problem.empty()) return problem;
        if (count >= 0 && block.count != count) {
          return fmt::format("operands of {} and {} blocks", count,
                             block.count);
        }
        count = block.count;
      }
    }
    return CheckSameBlocks(step);
  }

  // Blocks may differ in length, so what is moved or summed must be the same
  // logical block at both ends.
  std::string CheckSameBlocks(const Step& step) const {
    const BlockRef* first = nullptr;
    for (const auto* operands : {&step.sources, &step.destinations}) {
      for (const BlockRef& block : *operands) {
        if (first == nullptr) first = &block;
        std::string problem = CheckSameBlocks(*first, block);
        if (!problem.empty()) return problem;
      }
    }
    return "";
  }

  std::string CheckSameBlocks(const BlockRef& a, const BlockRef& b) const {
    const bool same_last =
        a.At(a.count - 1).LogicalBlock() == b.At(b.count - 1).LogicalBlock();
    if (a.LogicalBlock() == b.LogicalBlock() && same_last) return "";
    return fmt::format("{} and {} are different blocks", BlockToText(a, rank_),
                       BlockToText(b, rank_));
  }

  std::string CheckBlock(const BlockRef& block) const {
    if (block.owner < 0 || block.owner >= shape_.ranks) {
      return fmt::format("owner {} is out of range; want 0..{}", block.owner,
                         shape_.ranks - 1);
    }
    if (block.count < 1 || block.stride < 1) {
      return fmt::format("{} blocks with stride {}; want both >= 1",
                         block.count, block.stride);
    }
    const BlockSpan span = SpanOf(block.space, block.owner);
    const int64_t last =
        block.index + (int64_t{block.count} - 1) * int64_t{block.stride};
    if (block.index >= span.first && last < span.first + span.count) {
      return CheckLogicalBlock(block);
    }
    const std::string has =
        span.count == 0
            ? "none"
            : fmt::format("{}..{}", span.first, span.first + span.count - 1);
    return fmt::format("{} does not exist: rank {} has {} blocks {}",
                       BlockToText(block, rank_), block.owner,
                       SpaceName(block.space), has);
  }

  std::string CheckLogicalBlock(const BlockRef& block) const {
    const int blocks = LogicalBlocks(shape_);
    const int64_t last =
        block.block + (int64_t{block.count} - 1) * int64_t{block.stride};
    if (block.space == Space::kScratch) {
      if (block.block >= 0 && last < blocks) return "";
      return fmt::format("{} does not say which block it holds; want 0..{}",
                         BlockToText(block, rank_), blocks - 1);
    }
    if (block.block == -1) return "";
    return fmt::format("{} has no use for a block of its own, {}",
                       BlockToText(block, rank_), block.block);
  }

  // BlocksOf would build the program again only to count its scratch.
  BlockSpan SpanOf(Space space, int owner) const {
    if (space == Space::kScratch) return {0, programs_.scratch_blocks(owner)};
    return BlocksOf(shape_, space, owner);
  }

  // Which operands may lie in the space of another rank.
  std::string CheckOwners(const Step& step) const {
    const bool sources = step.kind == StepKind::kCopy ||
                         step.kind == StepKind::kReduce ||
                         step.kind == StepKind::kUpdate;
    const bool destinations =
        step.kind == StepKind::kCopy || step.kind == StepKind::kUpdate;
    for (const BlockRef& block : step.sources) {
      if (block.owner != rank_ && !sources) {
        return BlockToText(block, rank_) + " cannot be a source here";
      }
    }
    for (const BlockRef& block : step.destinations) {
      if (step.kind == StepKind::kPut && block.owner != step.peer) {
        return fmt::format("{} is not a space of peer {}",
                           BlockToText(block, rank_), step.peer);
      }
      if (step.kind != StepKind::kPut && block.owner != rank_ &&
          !destinations) {
        return BlockToText(block, rank_) + " cannot be a destination here";
      }
    }
    return "";
  }

  std::string CheckWait(const PlacedStep& placed) const {
    const Step& step = *placed.step;
    if (IsTransfer(step.kind) && placed.waited_at < 0) {
      return "nobody waits for this transfer";
    }
    if (step.kind != StepKind::kWait || step.waits_for < 0) return "";
    if (step.flag >= 0) return "waits for both a step and a flag";
    if (placed.waits_for < 0) {
      return fmt::format(
          "step {} is not an earlier send, recv or put of this "
          "section",
          step.waits_for);
    }
    if (!placed.unique) {
      return fmt::format("step {} was waited for before", step.waits_for);
    }
    return "";
  }

  std::string CheckPairing(const PlacedStep& placed) const {
    const Step& step = *placed.step;
    const bool message =
        step.kind == StepKind::kSend || step.kind == StepKind::kRecv;
    const bool flag = step.kind == StepKind::kSignal || IsFlagWait(step);
    if (!message && !flag) return "";
    if (!placed.unique) {
      return message ? fmt::format("message {} was used before with this peer",
                                   step.message)
                     : fmt::format("flag {} was used before with this peer",
                                   FlagToText(step.flag));
    }
    if (!placed.counterpart.valid()) return MissingCounterpart(step);
    if (!message) return "";
    return CheckSameMessage(step, *programs_.Get(placed.counterpart).step);
  }

  std::string MissingCounterpart(const Step& step) const {
    switch (step.kind) {
      case StepKind::kSend:
        return fmt::format(
            "unmatched: rank {} never receives message {} from "
            "this rank",
            step.peer, step.message);
      case StepKind::kRecv:
        return fmt::format(
            "unmatched: rank {} never sends message {} to this "
            "rank",
            step.peer, step.message);
      case StepKind::kSignal:
        return fmt::format("unmatched: rank {} never waits for this flag",
                           step.peer);
      default:
        return fmt::format("unmatched: rank {} never raises this flag",
                           step.peer);
    }
  }

  // The counterpart may not have been checked yet.
  std::string CheckSameMessage(const Step& mine, const Step& other) const {
    const bool sends = mine.kind == StepKind::kSend;
    const auto& other_blocks = sends ? other.destinations : other.sources;
    if (other_blocks.size() != 1) return "";
    const BlockRef& a = sends ? mine.sources[0] : mine.destinations[0];
    const BlockRef& b = other_blocks[0];
    if (a.count != b.count) {
      return fmt::format("message of {}, but at rank {} it has {}",
                         CountToText(a.count, "block"), mine.peer, b.count);
    }
    return CheckSameBlocks(a, b);
  }

  const Shape& shape_;
  const Programs& programs_;
  int rank_;
};

}  // namespace

Status CheckShapeFields(const Shape& shape) {
  if (shape.ranks < 1 || shape.ranks > kMaxVerifiedRanks) {
    return InvalidArgument(fmt::format("{} ranks; a proof covers 1..{}",
                                       shape.ranks, kMaxVerifiedRanks));
  }
  if (shape.rails < 1) {
    return InvalidArgument(fmt::format("{} rails; want >= 1", shape.rails));
  }
  if (shape.root < 0 || shape.root >= shape.ranks) {
    return InvalidArgument(fmt::format("root {} is out of range; want 0..{}",
                                       shape.root, shape.ranks - 1));
  }
  if (!shape.for_rank) return InvalidArgument("the shape has no for_rank");
  return Status::Ok();
}

Status CheckStructure(const Shape& shape, const Programs& programs) {
  for (int rank = 0; rank < programs.ranks(); ++rank) {
    RONDO_RETURN_IF_ERROR(RankChecker(shape, programs, rank).Run());
  }
  return Status::Ok();
}

}  // namespace rondo
