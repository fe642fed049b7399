#include "collectives/engine/call_run.h"

#include <algorithm>
#include <new>

#include "collectives/engine/tag.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace rondo {
namespace {

CallHeader MakeHeader(const CallArguments& arguments, const Shape& shape,
                      uint64_t sequence, size_t chunk_bytes) {
  CallHeader header;
  header.sequence = sequence;
  header.count = arguments.LargestBlock();
  header.counts_hash = HashBytes(arguments.counts.data(),
                                 arguments.counts.size() * sizeof(size_t));
  header.parameters_hash =
      HashBytes(arguments.parameter_counts.data(),
                arguments.parameter_counts.size() * sizeof(size_t));
  header.chunk_bytes = chunk_bytes;
  header.collective = static_cast<uint32_t>(arguments.collective);
  header.type = static_cast<uint32_t>(arguments.input_type);
  header.output_type = static_cast<uint32_t>(arguments.output_type);
  header.reduction = static_cast<uint32_t>(arguments.reduction);
  header.root = static_cast<uint32_t>(arguments.root);
  header.algorithm_hash = static_cast<uint32_t>(
      HashBytes(shape.algorithm.data(), shape.algorithm.size()));
  header.input_address = reinterpret_cast<uint64_t>(arguments.input);
  header.output_address = reinterpret_cast<uint64_t>(arguments.output);
  header.Seal();
  return header;
}

// Ranks of other hosts: those of this host read the control segment.
std::vector<int> Remote(const CallContext& context,
                        const std::vector<int>& ranks) {
  std::vector<int> remote;
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(remote),
               [&context](int rank) { return !context.IsLocal(rank); });
  return remote;
}

}  // namespace

CallRun::CallRun(CallContext* context,
                 std::shared_ptr<const PreparedShape> prepared,
                 CallArguments arguments, uint64_t sequence,
                 const CallLimits& limits)
    : context_(context),
      prepared_(std::move(prepared)),
      arguments_(std::move(arguments)),
      header_(MakeHeader(arguments_, prepared_->shape, sequence,
                         limits.chunk_bytes)),
      binding_(arguments_, prepared_->shape, context->rank, limits.chunk_bytes),
      exchange_(context, header_, prepared_->shape.rails,
                Remote(*context, prepared_->send_to),
                Remote(*context, prepared_->receive_from)),
      window_chunks_(static_cast<int>(std::min<int64_t>(
          limits.window_chunks, std::max<int64_t>(1, binding_.chunk_count())))),
      setting_{context, &arguments_, &binding_, sequence,
               prepared_->shape.rails} {}

Status CallRun::Start(std::vector<char>* scratch) {
  const int blocks = prepared_->program.scratch_blocks;
  const size_t bytes = binding_.ScratchBytes(blocks, window_chunks_);
  try {
    if (scratch->size() < bytes) scratch->resize(bytes);
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for {} bytes of scratch", bytes));
  }
  binding_.SetScratch(scratch->data(), blocks);
  exchange_.Start();
  return Status::Ok();
}

// Everyone agrees, so addresses in the headers may be used.
void CallRun::AfterMatch() {
  if (prepared_->touches_peers) {
    for (int peer = 0; peer < context_->ranks; ++peer) {
      if (peer == context_->rank || !context_->IsLocal(peer)) continue;
      const CallHeader& theirs = exchange_.Of(peer);
      binding_.SetPeer(peer, theirs.input_address, theirs.output_address);
    }
  }
  once_ = std::make_unique<ProgramRun>(setting_, &prepared_->program.prologue);
  once_->Begin(0, 0);
  phase_ = Phase::kPrologue;
}

// Tags tell only so many chunk indices apart, so a chunk that is stuck holds
// back those far ahead of it.
void CallRun::BeginNextChunk(int slot) {
  if (next_chunk_ >= binding_.chunk_count()) return;
  for (const ProgramRun& run : window_) {
    if (!run.finished() && next_chunk_ - run.chunk() >= kMaxWindowChunks)
      return;
  }
  window_[slot].Begin(next_chunk_++, slot);
}

Result<bool> CallRun::AdvanceChunks(bool* moved) {
  // All begin before any advances, so that updates prepare ahead.
  for (int slot = 0; slot < window_chunks_; ++slot) {
    if (window_[slot].finished()) BeginNextChunk(slot);
  }
  bool all_finished = true;
  for (ProgramRun& run : window_) {
    if (run.finished()) continue;
    RONDO_RETURN_IF_ERROR(run.Advance(moved).status());
    all_finished = false;
  }
  return all_finished;
}

Result<bool> CallRun::AdvanceTouchingPeers(bool* moved) {
  HostSegment* segment = context_->segment;
  segment->BeginTouch();
  Result<bool> finished =
      segment->AnyClosed()
          ? Result<bool>(Status(Code::kTransport,
                                "a rank of this host failed and closed its "
                                "memory"))
          : AdvanceChunks(moved);
  segment->EndTouch();
  return finished;
}

Result<bool> CallRun::Advance(bool* moved) {
  if (phase_ == Phase::kMatching) {
    RONDO_ASSIGN_OR_RETURN(const bool matched, exchange_.Matched());
    if (!matched) return false;
    *moved = true;
    AfterMatch();
  }
  if (phase_ == Phase::kPrologue) {
    RONDO_ASSIGN_OR_RETURN(const bool finished, once_->Advance(moved));
    if (!finished) return false;
    window_.reserve(window_chunks_);
    for (int slot = 0; slot < window_chunks_; ++slot) {
      window_.emplace_back(setting_, &prepared_->program.chunk);
    }
    phase_ = Phase::kChunks;
  }
  if (phase_ == Phase::kChunks) {
    RONDO_ASSIGN_OR_RETURN(const bool finished,
                           prepared_->touches_peers
                               ? AdvanceTouchingPeers(moved)
                               : AdvanceChunks(moved));
    if (!finished) return false;
    once_ =
        std::make_unique<ProgramRun>(setting_, &prepared_->program.epilogue);
    once_->Begin(0, 0);
    phase_ = Phase::kEpilogue;
  }
  if (phase_ == Phase::kEpilogue) {
    RONDO_ASSIGN_OR_RETURN(const bool finished, once_->Advance(moved));
    if (!finished) return false;
    phase_ = Phase::kDraining;
  }
  if (phase_ == Phase::kDraining) {
    RONDO_ASSIGN_OR_RETURN(const bool idle, exchange_.Idle());
    if (!idle) return false;
    phase_ = Phase::kDone;
  }
  return true;
}

std::vector<int> CallRun::Missing() const {
  if (phase_ != Phase::kMatching) return {};
  return exchange_.Missing();
}

std::string CallRun::WaitingFor() const {
  switch (phase_) {
    case Phase::kMatching:
      return fmt::format("rank(s) {} have not arrived",
                         fmt::join(exchange_.Missing(), ", "));
    case Phase::kPrologue:
    case Phase::kEpilogue:
      return "all ranks arrived; this one waits at " + once_->WaitingFor();
    case Phase::kChunks:
      break;
    case Phase::kDraining:
      return "the header has not left yet";
    case Phase::kDone:
      return "nothing";
  }
  for (const ProgramRun& run : window_) {
    if (!run.finished()) {
      return "all ranks arrived; this one waits at " + run.WaitingFor();
    }
  }
  return "nothing";
}

}  // namespace rondo
