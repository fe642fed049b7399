#include "collectives/engine/call_run.h"

#include <algorithm>
#include <new>
#include <utility>

#include "collectives/engine/symmetric_heap.h"
#include "collectives/engine/tag.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace rondo {
namespace {

// Nothing waits inside a chunk that only touches memory: it is as long as the
// engine may go without looking up.
constexpr size_t kDirectChunkBytes = 1 << 20;

uint64_t AddressOf(const void* data) {
  return reinterpret_cast<uint64_t>(data);
}

uint64_t HashCounts(const BlockCounts& counts) {
  if (counts.even()) return 0;
  return HashBytes(counts.uneven().data(),
                   counts.uneven().size() * sizeof(size_t));
}

}  // namespace

CallRun::CallRun(CallContext* context, const CallLimits& limits)
    : context_(context),
      limits_(limits),
      exchange_(context),
      staged_(context) {}

Status CallRun::Begin(CallPlan plan, CallArguments arguments,
                      uint64_t sequence) {
  plan_ = std::move(plan);
  arguments_ = std::move(arguments);
  const PreparedShape& prepared = *plan_.shape;
  MakeHeader(sequence);
  exchange_.Reset(&header_, prepared.shape.rails, prepared.send_to,
                  prepared.receive_from);
  if (plan_.with_header) {
    touches_peers_ = false;
    needs_transport_ = prepared.uses_transport;
    staged_.BeginWithHeader(&arguments_, sequence);
    phase_ = Phase::kPublishing;
    return Status::Ok();
  }
  RONDO_RETURN_IF_ERROR(Use(prepared));
  if (touches_peers_) {
    HoldSegments();
    segments_.Name(&header_, &context_->segment->NextSlot(header_.sequence));
  }
  Post();
  return Status::Ok();
}

// Cuts the call into chunks as that shape wants them.
Status CallRun::Use(const PreparedShape& prepared) {
  touches_peers_ = prepared.touches_peers();
  needs_transport_ = prepared.uses_transport;
  // An update wants several chunks in sight, whatever its plan.
  const bool waits = !touches_peers_ || HasUpdate(arguments_.collective);
  binding_.Reset(arguments_, context_->ranks, context_->rank,
                 waits ? limits_.chunk_bytes : kDirectChunkBytes);
  window_chunks_ = static_cast<int>(
      std::min<int64_t>(waits ? limits_.window_chunks : 1,
                        std::max<int64_t>(1, binding_.chunk_count())));
  return MakeScratch(prepared.program);
}

void CallRun::End() {
  phase_ = Phase::kDone;
  plan_ = CallPlan();
  segments_.Release();
}

void CallRun::MakeHeader(uint64_t sequence) {
  header_ = CallHeader();
  header_.sequence = sequence;
  header_.freed_segments = SymmetricHeap::Get().freed();
  header_.count = arguments_.counts.largest();
  header_.counts_hash = HashCounts(arguments_.counts);
  if (!arguments_.parameter_counts.empty()) {
    header_.parameters_hash =
        HashBytes(arguments_.parameter_counts.data(),
                  arguments_.parameter_counts.size() * sizeof(size_t));
    header_.parameters_hash ^= arguments_.update_fingerprint;
  }
  header_.chunk_bytes = limits_.chunk_bytes;
  header_.collective = static_cast<uint32_t>(arguments_.collective);
  header_.type = static_cast<uint32_t>(arguments_.input_type);
  header_.output_type = static_cast<uint32_t>(arguments_.output_type);
  header_.reduction = static_cast<uint32_t>(arguments_.reduction);
  header_.root = static_cast<uint32_t>(arguments_.root);
  header_.algorithm_hash = plan_.shape->algorithm_hash;
  header_.input_address = AddressOf(arguments_.input);
  header_.output_address = AddressOf(arguments_.output);
  header_.Seal();
}

Status CallRun::MakeScratch(const RankProgram& program) {
  const int blocks = program.scratch_blocks;
  const size_t bytes = binding_.ScratchBytes(blocks, window_chunks_);
  try {
    if (scratch_.size() < bytes) scratch_.resize(bytes);
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for {} bytes of scratch", bytes));
  }
  binding_.SetScratch(scratch_.data(), blocks);
  return Status::Ok();
}

void CallRun::HoldSegments() { segments_.Hold(arguments_, context_->rank); }

void CallRun::Post() {
  exchange_.Start();
  phase_ = Phase::kMatching;
}

// Everyone agrees, so what the headers say of buffers may be used.
Result<bool> CallRun::AdvanceMatching(bool* moved) {
  RONDO_ASSIGN_OR_RETURN(const bool matched, exchange_.Matched());
  if (!matched) return false;
  *moved = true;
  DropFreedSegments();
  if (plan_.with_header) {
    staged_.HeadersArrived();
    phase_ = Phase::kStaged;
  } else if (!touches_peers_) {
    RunProgram(*plan_.shape);
  } else if (MapNewSegments()) {
    phase_ = Phase::kMapping;
  } else {
    RONDO_RETURN_IF_ERROR(ChooseMove());
  }
  return true;
}

// Made from what all ranks know alike: the same everywhere.
Status CallRun::ChooseMove() {
  if (plan_.push != nullptr && IsReachable(*plan_.push)) {
    BindPeers();
    RunProgram(*plan_.push);
    return Status::Ok();
  }
  const bool mapped = AllOpen(/*outputs=*/false);
  const bool from_memory = IsReachable(*plan_.shape);
  if (plan_.stage == Stage::kAlways ||
      (plan_.stage == Stage::kUnlessMapped && !mapped) ||
      (plan_.stage == Stage::kIfNeeded && !from_memory)) {
    touches_peers_ = false;
    staged_.Begin(&arguments_);
    staged_.HeadersArrived();
    phase_ = Phase::kStaged;
    return Status::Ok();
  }
  if (!from_memory && plan_.fallback != nullptr) {
    RONDO_RETURN_IF_ERROR(Use(*plan_.fallback));
    RunProgram(*plan_.fallback);
    return Status::Ok();
  }
  if (!from_memory) {
    return Status(
        Code::kNotSupported,
        fmt::format("RONDO_ALGO=direct, but not all buffers of this call are "
                    "symmetric, and the system does not let ranks read each "
                    "other's memory (process_vm_readv); accepted here: auto, "
                    "{}ring",
                    HasUpdate(arguments_.collective) ? "" : "staged, "));
  }
  BindPeers();
  RunProgram(*plan_.shape);
  return Status::Ok();
}

void CallRun::RunProgram(const PreparedShape& prepared) {
  program_ = &prepared.program;
  setting_ = CallSetting{.context = context_,
                         .arguments = &arguments_,
                         .binding = &binding_,
                         .sequence = header_.sequence,
                         .rails = prepared.shape.rails};
  if (touches_peers_) {
    setting_.store =
        context_->StoreFor(arguments_.counts.total() *
                           std::max(ElementSize(arguments_.input_type),
                                    ElementSize(arguments_.output_type)));
  }
  next_chunk_ = 0;
  once_.Bind(&setting_, &program_->prologue);
  once_.Begin(0, 0);
  phase_ = Phase::kPrologue;
}

// Tags tell only so many chunk indices apart, so a chunk that is stuck holds
// back those far ahead of it.
bool CallRun::BeginNextChunk(int slot) {
  if (next_chunk_ >= binding_.chunk_count()) return false;
  for (int other = 0; other < window_chunks_; ++other) {
    const ProgramRun& run = window_[other];
    if (!run.finished() && next_chunk_ - run.chunk() >= kMaxWindowChunks) {
      return false;
    }
  }
  window_[slot].Begin(next_chunk_++, slot);
  return true;
}

Result<bool> CallRun::AdvanceChunks(bool* moved) {
  // All begin before any advances, so that updates prepare ahead.
  for (int slot = 0; slot < window_chunks_; ++slot) {
    if (window_[slot].finished()) BeginNextChunk(slot);
  }
  bool all_finished = next_chunk_ >= binding_.chunk_count();
  for (int slot = 0; slot < window_chunks_; ++slot) {
    if (window_[slot].finished()) continue;
    RONDO_ASSIGN_OR_RETURN(const bool finished, window_[slot].Advance(moved));
    all_finished = all_finished && finished;
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

bool CallRun::AdvanceStaged(bool* moved) {
  while (staged_.TryPublish()) *moved = true;
  return staged_.Consume(moved);
}

Result<bool> CallRun::AdvanceProgram(bool* moved) {
  if (phase_ == Phase::kPrologue) {
    RONDO_ASSIGN_OR_RETURN(const bool finished, once_.Advance(moved));
    if (!finished) return false;
    if (window_.size() < static_cast<size_t>(window_chunks_)) {
      window_.resize(window_chunks_);
    }
    for (int slot = 0; slot < window_chunks_; ++slot) {
      window_[slot].Bind(&setting_, &program_->chunk);
    }
    phase_ = Phase::kChunks;
  }
  if (phase_ == Phase::kChunks) {
    RONDO_ASSIGN_OR_RETURN(
        const bool finished,
        touches_peers_ ? AdvanceTouchingPeers(moved) : AdvanceChunks(moved));
    if (!finished) return false;
    once_.Bind(&setting_, &program_->epilogue);
    once_.Begin(0, 0);
    phase_ = Phase::kEpilogue;
  }
  return once_.Advance(moved);
}

Result<bool> CallRun::Advance(bool* moved) {
  if (phase_ == Phase::kPublishing) {
    staged_.TryPublish();
    if (!staged_.first_is_published()) return false;
    Post();
  }
  if (phase_ == Phase::kMatching) {
    RONDO_ASSIGN_OR_RETURN(const bool matched, AdvanceMatching(moved));
    if (!matched) return false;
  }
  if (phase_ == Phase::kMapping) {
    if (!context_->segments->ApplyVerdicts(header_.sequence)) return false;
    RONDO_RETURN_IF_ERROR(ChooseMove());
  }
  if (phase_ == Phase::kStaged) {
    if (!AdvanceStaged(moved)) return false;
    phase_ = Phase::kDraining;
  } else if (phase_ != Phase::kDraining && phase_ != Phase::kDone) {
    RONDO_ASSIGN_OR_RETURN(const bool finished, AdvanceProgram(moved));
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
    case Phase::kMapping:
      return "all ranks arrived; not all have mapped the symmetric memory";
    case Phase::kPublishing:
    case Phase::kStaged:
      return fmt::format("this one waits for data of rank {}",
                         staged_.WaitsFor());
    case Phase::kPrologue:
    case Phase::kEpilogue:
      return "all ranks arrived; this one waits at " + once_.WaitingFor();
    case Phase::kDraining:
      return "the header has not left yet";
    case Phase::kChunks:
    case Phase::kDone:
      break;
  }
  for (const ProgramRun& run : window_) {
    if (!run.finished()) {
      return "all ranks arrived; this one waits at " + run.WaitingFor();
    }
  }
  return "nothing";
}

}  // namespace rondo
