#include "collectives/engine/program_run.h"

#include <algorithm>

#include "collectives/engine/tag.h"
#include "fmt/format.h"

namespace rondo {
namespace {

// How many transfers a step may have in flight.
size_t TransferCount(const Step& step) {
  switch (step.kind) {
    case StepKind::kSend:
      return step.sources[0].count;
    case StepKind::kRecv:
      return step.destinations[0].count;
    case StepKind::kSignal:
    case StepKind::kWait:
      return step.flag >= 0 ? 1 : 0;
    default:
      return 0;
  }
}

}  // namespace

void ProgramRun::Bind(const CallSetting* setting,
                      const std::vector<Step>* steps) {
  setting_ = setting;
  steps_ = steps;
  next_ = steps->size();
  drained_ = true;
  first_transfer_.clear();
  first_transfer_.push_back(0);
  for (const Step& step : *steps) {
    first_transfer_.push_back(first_transfer_.back() + TransferCount(step));
  }
  const size_t transfers = first_transfer_.back();
  if (transfers > transfer_capacity_) {
    transfers_ = std::make_unique<Transfer[]>(transfers);
    transfer_capacity_ = transfers;
  }
  posted_.assign(transfers, false);
}

void ProgramRun::Begin(int64_t chunk, int slot) {
  chunk_ = chunk;
  slot_ = slot;
  next_ = 0;
  drained_ = false;
  update_block_ = 0;
  update_done_ = 0;
  std::fill(posted_.begin(), posted_.end(), false);
  PrepareUpdates();
}

Result<bool> ProgramRun::Advance(bool* moved) {
  while (next_ < steps_->size()) {
    if (!setting_->context->executor->Idle()) return false;
    const Step& step = (*steps_)[next_];
    Result<Outcome> outcome = Run(step);
    if (!outcome.ok()) {
      return outcome.status().WithContext(fmt::format(
          "step {} ({}) of chunk {}", next_, StepKindName(step.kind), chunk_));
    }
    if (*outcome == Outcome::kBlocked) return false;
    ++next_;
    *moved = true;
  }
  if (drained_) return true;
  // A signal to another host is a send that no step waits for.
  RONDO_ASSIGN_OR_RETURN(const Outcome drained,
                         WaitForTransfers(0, posted_.size()));
  drained_ = drained == Outcome::kNext && setting_->context->executor->Idle();
  return drained_;
}

Result<ProgramRun::Outcome> ProgramRun::Run(const Step& step) {
  // Row 0 of a trace shows whole calls; each chunk in flight has its own. A
  // wait is asked for again and again: the gap that it leaves shows it well
  // enough.
  TraceSpan span(
      step.kind == StepKind::kWait ? nullptr : setting_->context->trace,
      StepKindName(step.kind), "step", 1 + slot_);
  span.Argument("chunk", chunk_);
  span.Argument("step", static_cast<int64_t>(next_));
  switch (step.kind) {
    case StepKind::kSend:
    case StepKind::kRecv:
      StartTransfers(step);
      return Outcome::kNext;
    case StepKind::kWait:
      return step.waits_for >= 0 ? WaitForStep(step.waits_for)
                                 : WaitForFlag(step);
    case StepKind::kSignal:
      Signal(step);
      return Outcome::kNext;
    case StepKind::kPut:
      RONDO_RETURN_IF_ERROR(Put(step));
      return Outcome::kNext;
    case StepKind::kCopy:
    case StepKind::kReduce:
      RONDO_RETURN_IF_ERROR(Combine(step));
      return Outcome::kNext;
    case StepKind::kUpdate:
      return UpdateBlocks(step);
  }
  return Internal("unknown kind of step");
}

OwnedPiece ProgramRun::PieceOf(const BlockRef& block, int k) const {
  return {block.owner, setting_->binding->PieceAt(block.At(k), chunk_, slot_)};
}

void ProgramRun::StartTransfers(const Step& step) {
  const bool send = step.kind == StepKind::kSend;
  const BlockRef& block = send ? step.sources[0] : step.destinations[0];
  TrafficCounters* counters = setting_->context->counters;
  const uint64_t tag = MakeTag(TagKind::kPayload, setting_->sequence,
                               static_cast<uint64_t>(chunk_), step.message);
  for (int k = 0; k < block.count; ++k) {
    const Piece piece = PieceOf(block, k).piece;
    // Both sides know every size, so an empty piece needs no message.
    if (piece.count == 0) continue;
    const size_t index = first_transfer_[next_] + k;
    posted_[index] = true;
    if (send) {
      counters->message_bytes_sent += piece.bytes();
      setting_->context->transport->Send(step.peer, lane(), tag,
                                         {piece.data, piece.bytes()},
                                         &transfers_[index]);
    } else {
      counters->message_bytes_received += piece.bytes();
      setting_->context->transport->Receive(step.peer, lane(), tag,
                                            {piece.data, piece.bytes()},
                                            &transfers_[index]);
    }
  }
}

Result<ProgramRun::Outcome> ProgramRun::WaitForStep(int index) {
  return WaitForTransfers(first_transfer_[index], first_transfer_[index + 1]);
}

Result<ProgramRun::Outcome> ProgramRun::WaitForTransfers(size_t from,
                                                         size_t to) {
  for (size_t i = from; i < to; ++i) {
    if (!posted_[i]) continue;
    if (!transfers_[i].done()) return Outcome::kBlocked;
    RONDO_RETURN_IF_ERROR(transfers_[i].status());
  }
  return Outcome::kNext;
}

// Flags between ranks of one host are words in its control segment; between
// hosts they are empty messages.
void ProgramRun::Signal(const Step& step) {
  CallContext* context = setting_->context;
  if (context->IsLocal(step.peer)) {
    // The header that this rank has posted says so already.
    if (step.flag == kReadyFlag) return;
    context->segment->Raise(context->local_index[step.peer], step.flag,
                            setting_->sequence);
    return;
  }
  const size_t index = first_transfer_[next_];
  posted_[index] = true;
  context->transport->Send(
      step.peer, 0, MakeTag(TagKind::kFlag, setting_->sequence, 0, step.flag),
      {nullptr, 0}, &transfers_[index]);
}

Result<ProgramRun::Outcome> ProgramRun::WaitForFlag(const Step& step) {
  CallContext* context = setting_->context;
  if (context->IsLocal(step.peer)) {
    const int local = context->local_index[step.peer];
    // A posted header is a rank's word that its buffers may be touched.
    const bool raised =
        step.flag == kReadyFlag
            ? context->segment->Posted(local, setting_->sequence) != nullptr
            : context->segment->Raised(local, step.flag, setting_->sequence);
    return raised ? Outcome::kNext : Outcome::kBlocked;
  }
  const size_t index = first_transfer_[next_];
  if (!posted_[index]) {
    posted_[index] = true;
    context->transport->Receive(
        step.peer, 0, MakeTag(TagKind::kFlag, setting_->sequence, 0, step.flag),
        {nullptr, 0}, &transfers_[index]);
  }
  if (!transfers_[index].done()) return Outcome::kBlocked;
  RONDO_RETURN_IF_ERROR(transfers_[index].status());
  return Outcome::kNext;
}

Status ProgramRun::Put(const Step& step) {
  for (int k = 0; k < step.sources[0].count; ++k) {
    const OwnedPiece from = PieceOf(step.sources[0], k);
    if (from.piece.count == 0) continue;
    RONDO_RETURN_IF_ERROR(setting_->context->peers->Write(
        PieceOf(step.destinations[0], k), from.piece.data, setting_->store));
  }
  return Status::Ok();
}

Status ProgramRun::Combine(const Step& step) {
  for (int k = 0; k < step.destinations[0].count; ++k) {
    if (PieceOf(step.destinations[0], k).piece.count == 0) continue;
    RONDO_RETURN_IF_ERROR(step.kind == StepKind::kCopy ? CopyBlock(step, k)
                                                       : ReduceBlock(step, k));
  }
  return Status::Ok();
}

// Cache-sized parts, so that the source is read from memory once, however many
// destinations there are.
Status ProgramRun::CopyBlock(const Step& step, int k) {
  constexpr size_t kPartBytes = 32 << 10;
  const OwnedPiece from = PieceOf(step.sources[0], k);
  const Piece own = PieceOf(step.destinations[0], k).piece;
  const size_t bytes = from.piece.bytes();
  const bool alone = step.destinations.size() == 1;
  if (from.piece.reach != Reach::kMapped) {
    if (from.piece.reach == Reach::kReadAcross && alone) {
      return setting_->context->peers->ReadInto(own.data, from,
                                                setting_->store);
    }
    return Internal(fmt::format(
        "rank {}'s memory cannot be copied from here, which the plan asks for",
        from.owner));
  }
  Executor* executor = setting_->context->executor;
  const size_t part_bytes = alone ? bytes : kPartBytes;
  for (size_t begin = 0; begin < bytes; begin += part_bytes) {
    const size_t part = std::min(part_bytes, bytes - begin);
    for (const BlockRef& destination : step.destinations) {
      const Piece to = PieceOf(destination, k).piece;
      RONDO_RETURN_IF_ERROR(executor->Copy({to.data + begin, part},
                                           {from.piece.data + begin, part},
                                           setting_->store));
    }
  }
  return Status::Ok();
}

Status ProgramRun::ReduceBlock(const Step& step, int k) {
  const CallArguments& arguments = *setting_->arguments;
  const Piece to = PieceOf(step.destinations[0], k).piece;
  const bool average = arguments.reduction == Reduction::kAverage;
  const ReduceOperation operation{
      to.type, arguments.reduction,
      step.completes_sum && average ? setting_->context->ranks : 1};
  const size_t element_bytes = ElementSize(to.type);
  sources_.resize(step.sources.size());
  buffers_.resize(step.sources.size());
  for (size_t i = 0; i < sources_.size(); ++i) {
    sources_[i] = PieceOf(step.sources[i], k);
  }
  const auto use = [&](std::span<const void* const> data, size_t first,
                       size_t count) -> Result<size_t> {
    for (size_t i = 0; i < data.size(); ++i) {
      buffers_[i] = {data[i], count * element_bytes};
    }
    RONDO_RETURN_IF_ERROR(setting_->context->executor->Reduce(
        operation, buffers_,
        {to.data + first * element_bytes, count * element_bytes},
        setting_->store));
    return count;
  };
  size_t consumed = 0;
  return setting_->context->peers->ForEachReadable(sources_, 0, use, &consumed);
}

Result<ProgramRun::Outcome> ProgramRun::UpdateBlocks(const Step& step) {
  for (const BlockRef& to : step.destinations) {
    // The functor stores with plain instructions.
    if (PieceOf(to, 0).piece.reach != Reach::kMapped) {
      return Internal(
          fmt::format("rank {}'s memory is not mapped, which the "
                      "plan's update asks for",
                      to.owner));
    }
  }
  sources_.resize(step.sources.size());
  while (update_block_ < BlocksThrough(step).count) {
    const int k = update_block_;
    for (size_t i = 0; i < sources_.size(); ++i) {
      sources_[i] = PieceOf(step.sources[i], k);
    }
    const size_t total = PieceOf(BlocksThrough(step), k).piece.count;
    const auto use = [&](std::span<const void* const> data, size_t first,
                         size_t count) {
      return ApplyUpdate(step, k, data, first, count);
    };
    if (sources_.empty()) {
      RONDO_ASSIGN_OR_RETURN(const size_t used,
                             use({}, update_done_, total - update_done_));
      update_done_ += used;
    } else if (total > 0) {
      RONDO_RETURN_IF_ERROR(setting_->context->peers->ForEachReadable(
          sources_, update_done_, use, &update_done_));
    }
    if (update_done_ < total) return Outcome::kBlocked;
    ++update_block_;
    update_done_ = 0;
  }
  return Outcome::kNext;
}

}  // namespace rondo
