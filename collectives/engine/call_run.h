// CallRun: one collective call from its header to its end.
//
//   post header -> all headers match -> [map symmetric memory] -> choose how
//   the data moves -> prologue -> chunks, a window of them in flight ->
//   epilogue -> done
//
// Small calls on one host are shorter: their data lies beside the header in
// shared slots, so that they are done once it is read (staged_move.h).
//
// One object serves all calls of a communicator, one after the other, and keeps
// what it has allocated.
//
// Thread-safety: one thread at a time. Ownership: owns its transfers and
// borrows scratch; after an error the engine ends all transfers
// (Transport::FailAll) before it calls End(). Failure: Advance() returns the
// first error.
//
// Example:
//   RONDO_RETURN_IF_ERROR(run.Begin(plan, std::move(arguments), sequence));
//   RONDO_ASSIGN_OR_RETURN(bool finished, run.Advance(&moved));
//   if (finished) run.End();
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collectives/engine/binding.h"
#include "collectives/engine/call_context.h"
#include "collectives/engine/call_segments.h"
#include "collectives/engine/header_exchange.h"
#include "collectives/engine/prepared_shape.h"
#include "collectives/engine/program_run.h"
#include "collectives/engine/staged_move.h"

namespace rondo {

struct CallLimits {
  size_t chunk_bytes = 0;
  int window_chunks = 1;
};

class CallRun {
 public:
  CallRun(CallContext* context, const CallLimits& limits);

  const CallArguments& arguments() const { return arguments_; }
  const CallHeader& header() const { return header_; }

  // Posts the header. All that can fail is memory for scratch.
  Status Begin(CallPlan plan, CallArguments arguments, uint64_t sequence);
  // True when the call is complete. Sets `*moved` when something happened.
  Result<bool> Advance(bool* moved);
  // Lets go of the call's memory and plan.
  void End();

  // A call that will outlive the function it was started by keeps its
  // symmetric buffers from being freed.
  void HoldSegments();
  // Spins a little for ranks of this host that have not arrived. Whether all
  // have.
  bool SpinForArrival(int pauses) const {
    return phase_ == Phase::kMatching && exchange_.SpinForArrival(pauses);
  }
  // Ranks whose header this rank still waits for; none once all agreed.
  std::vector<int> Missing() const;
  bool touches_peers() const { return touches_peers_; }
  // Whether the transport has to be moved for this call to end.
  bool needs_transport() const { return needs_transport_; }
  // Who is missing, or at which step this rank waits.
  std::string WaitingFor() const;

 private:
  enum class Phase {
    kPublishing,  // a small call: until its slot is free
    kMatching,
    kMapping,  // of symmetric memory that a header names first
    kStaged,
    kPrologue,
    kChunks,
    kEpilogue,
    kDraining,
    kDone
  };

  Status MakeScratch(const RankProgram& program);
  void MakeHeader(uint64_t sequence);
  void Post();
  Result<bool> AdvanceMatching(bool* moved);
  void DropFreedSegments();
  bool MapNewSegments();
  Status ChooseMove();
  void BindPeers();
  Status Use(const PreparedShape& prepared);
  bool IsReachable(const PreparedShape& prepared) const;
  void RunProgram(const PreparedShape& prepared);
  bool AllOpen(bool outputs) const;
  bool AdvanceStaged(bool* moved);
  Result<bool> AdvanceProgram(bool* moved);
  Result<bool> AdvanceChunks(bool* moved);
  Result<bool> AdvanceTouchingPeers(bool* moved);
  bool BeginNextChunk(int slot);

  CallContext* context_;
  const CallLimits limits_;
  CallPlan plan_;
  const RankProgram* program_ = nullptr;
  CallArguments arguments_;
  CallHeader header_;
  Binding binding_;
  HeaderExchange exchange_;
  StagedMove staged_;
  CallSetting setting_;
  std::vector<ProgramRun> window_;
  ProgramRun once_;  // prologue, then epilogue
  std::vector<char> scratch_;
  CallSegments segments_;
  Phase phase_ = Phase::kDone;
  int64_t next_chunk_ = 0;
  int window_chunks_ = 1;
  bool touches_peers_ = false;
  bool needs_transport_ = false;
};

}  // namespace rondo
