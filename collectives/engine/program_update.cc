// The part of ProgramRun that hands chunks to the update functor: it cuts them
// where parameters end, because hyper-parameters belong to a parameter.

#include <algorithm>
#include <vector>

#include "collectives/engine/program_run.h"
#include "fmt/format.h"

namespace rondo {
namespace {

// Calls `visit(range)` for each parameter that meets the elements
// [begin, begin + count) of the vector, until it returns false.
template <typename Visit>
void ForEachRange(const std::vector<size_t>& parameter_counts, size_t begin,
                  size_t count, const Visit& visit) {
  size_t start = 0;
  for (size_t parameter = 0; parameter < parameter_counts.size(); ++parameter) {
    const size_t end = start + parameter_counts[parameter];
    const size_t from = std::max(begin, start);
    const size_t to = std::min(begin + count, end);
    if (from < to) {
      const UpdateRange range{static_cast<int>(parameter), from - start,
                              to - from, from};
      if (!visit(range)) return;
    }
    start = end;
    if (start >= begin + count) return;
  }
}

}  // namespace

void ProgramRun::PrepareUpdates() {
  for (const Step& step : *steps_) {
    if (step.kind != StepKind::kUpdate) continue;
    const BlockRef& block = BlocksThrough(step);
    for (int k = 0; k < block.count; ++k) {
      const Piece piece = PieceOf(block, k).piece;
      if (piece.count == 0) continue;
      const size_t begin =
          setting_->binding->VectorOffset(block.At(k).LogicalBlock()) +
          piece.block_offset;
      ForEachRange(setting_->arguments->parameter_counts, begin, piece.count,
                   [this](const UpdateRange& range) {
                     setting_->arguments->update->Prepare(range);
                     return true;
                   });
    }
  }
}

Result<size_t> ProgramRun::ApplyUpdate(const Step& step, int k,
                                       std::span<const void* const> sources,
                                       size_t first, size_t count) {
  const BlockRef own = BlocksThrough(step).At(k);
  const Piece own_piece = PieceOf(BlocksThrough(step), k).piece;
  // Fewer destinations than ranks: others read our output at once.
  const StoreHint store =
      static_cast<int>(step.destinations.size()) == setting_->context->ranks
          ? setting_->store
          : StoreHint::kCached;
  const size_t begin = setting_->binding->VectorOffset(own.LogicalBlock()) +
                       own_piece.block_offset + first;
  std::vector<ConstElements> from(sources.size());
  std::vector<MutableElements> to(step.destinations.size());
  Status failure;
  size_t applied = 0;
  ForEachRange(
      setting_->arguments->parameter_counts, begin, count,
      [&](const UpdateRange& range) {
        const size_t skip = range.vector_offset - begin;
        for (size_t i = 0; i < from.size(); ++i) {
          const DataType type = PieceOf(step.sources[i], k).piece.type;
          from[i] = {type, static_cast<const char*>(sources[i]) +
                               skip * ElementSize(type)};
        }
        for (size_t i = 0; i < to.size(); ++i) {
          const Piece piece = PieceOf(step.destinations[i], k).piece;
          to[i] = {piece.type,
                   piece.data + (first + skip) * ElementSize(piece.type),
                   store};
        }
        Result<UpdateOutcome> outcome =
            setting_->arguments->update->Apply(range, from, to);
        if (!outcome.ok()) {
          failure = outcome.status().WithContext(fmt::format(
              "update of parameter {}, elements {} to {}", range.parameter,
              range.offset, range.offset + range.count));
          return false;
        }
        if (*outcome == UpdateOutcome::kLater) return false;
        applied += range.count;
        return true;
      });
  if (!failure.ok()) return failure;
  return applied;
}

std::string ProgramRun::WaitingFor() const {
  if (finished()) return "nothing";
  if (next_ == steps_->size()) return "the last sends to leave";
  const Step& step = (*steps_)[next_];
  const std::string where = fmt::format("chunk {}, step {}", chunk_, next_);
  if (step.kind == StepKind::kUpdate) return where + ", the update";
  if (step.kind != StepKind::kWait) return where;
  if (step.waits_for < 0) {
    return fmt::format("{}, flag {} of rank {}", where, step.flag, step.peer);
  }
  const Step& awaited = (*steps_)[step.waits_for];
  return fmt::format("{}, {} {} rank {}", where, StepKindName(awaited.kind),
                     awaited.kind == StepKind::kSend ? "to" : "from",
                     awaited.peer);
}

}  // namespace rondo
