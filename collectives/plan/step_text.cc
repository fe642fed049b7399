#include "collectives/plan/step_text.h"

#include <cstdint>

#include "fmt/format.h"

namespace rondo {
namespace {

std::string BlocksToText(const std::vector<BlockRef>& blocks, int rank,
                         std::string_view separator) {
  std::string text;
  for (const BlockRef& block : blocks) {
    if (!text.empty()) text += separator;
    text += BlockToText(block, rank);
  }
  return text.empty() ? "nothing" : text;
}

std::string WaitToText(const Step& step) {
  if (step.waits_for >= 0) return fmt::format("step {}", step.waits_for);
  return fmt::format("flag {} of rank {}", FlagToText(step.flag), step.peer);
}

std::string OperandsToText(const Step& step, int rank) {
  const std::string sources = BlocksToText(
      step.sources, rank, step.kind == StepKind::kUpdate ? ", " : " + ");
  const std::string destinations = BlocksToText(step.destinations, rank, ", ");
  switch (step.kind) {
    case StepKind::kSend:
      return fmt::format("{} -> rank {} (message {})", sources, step.peer,
                         step.message);
    case StepKind::kRecv:
      return fmt::format("{} <- rank {} (message {})", destinations, step.peer,
                         step.message);
    case StepKind::kSignal:
      return fmt::format("flag {} to rank {}", FlagToText(step.flag),
                         step.peer);
    case StepKind::kWait:
      return WaitToText(step);
    case StepKind::kPut:
    case StepKind::kCopy:
    case StepKind::kReduce:
    case StepKind::kUpdate:
      break;
  }
  return fmt::format("{} -> {}{}", sources, destinations,
                     step.completes_sum ? " (completes the sum)" : "");
}

}  // namespace

std::string StepToText(const Step& step, int rank) {
  return fmt::format("{:<6} {}", StepKindName(step.kind),
                     OperandsToText(step, rank));
}

std::string BlockToText(const BlockRef& block, int rank) {
  std::string indices = std::to_string(block.index);
  if (block.count != 1) {
    const int64_t last =
        block.index + (int64_t{block.count} - 1) * int64_t{block.stride};
    indices += fmt::format("..{}", last);
    if (block.stride != 1) indices += fmt::format(" by {}", block.stride);
  }
  std::string text = fmt::format("{}[{}]", SpaceName(block.space), indices);
  if (block.block >= 0) text += fmt::format(" (block {})", block.block);
  if (block.owner != rank) text += fmt::format(" of rank {}", block.owner);
  return text;
}

std::string FlagToText(int flag) {
  if (flag == kReadyFlag) return "0 (ready)";
  if (flag == kDoneFlag) return "1 (done)";
  return std::to_string(flag);
}

std::string CountToText(long long count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace rondo
