// CallRun: one collective call from its header to its end.
//
//   post header -> all headers match -> prologue -> chunks, a window of them in
//   flight -> epilogue -> done
//
// Thread-safety: one thread at a time. Ownership: owns its transfers and
// borrows scratch; after an error the engine ends all transfers
// (Transport::FailAll) before it destroys the run. Failure: Advance() returns
// the first error.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(bool finished, run.Advance(&moved));
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collectives/engine/binding.h"
#include "collectives/engine/call_context.h"
#include "collectives/engine/header_exchange.h"
#include "collectives/engine/program_run.h"
#include "collectives/plan/plan.h"

namespace rondo {

// A shape and this rank's program of it, proved once and kept.
struct PreparedShape {
  Shape shape;
  RankProgram program;
  // Ranks this program sends to or signals, and receives from or waits for.
  // Both hold the two neighbours in the rank order: those exchange headers in
  // every call, whatever its plan, so that a difference between any two ranks
  // lies between two that compare.
  std::vector<int> send_to;
  std::vector<int> receive_from;
  bool touches_peers = false;  // names blocks of other ranks
};

struct CallLimits {
  size_t chunk_bytes = 0;
  int window_chunks = 1;
};

class CallRun {
 public:
  CallRun(CallContext* context, std::shared_ptr<const PreparedShape> prepared,
          CallArguments arguments, uint64_t sequence, const CallLimits& limits);

  const CallArguments& arguments() const { return arguments_; }
  const CallHeader& header() const { return header_; }

  // `scratch` is kept from call to call; grown when it is too small, which is
  // all that can fail.
  Status Start(std::vector<char>* scratch);
  // True when the call is complete. Sets `*moved` when something happened.
  Result<bool> Advance(bool* moved);
  // Ranks whose header this rank still waits for; none once all agreed.
  std::vector<int> Missing() const;
  bool touches_peers() const { return prepared_->touches_peers; }
  // Who is missing, or at which step this rank waits.
  std::string WaitingFor() const;

 private:
  enum class Phase {
    kMatching,
    kPrologue,
    kChunks,
    kEpilogue,
    kDraining,
    kDone
  };

  void AfterMatch();
  Result<bool> AdvanceChunks(bool* moved);
  Result<bool> AdvanceTouchingPeers(bool* moved);
  void BeginNextChunk(int slot);

  CallContext* context_;
  std::shared_ptr<const PreparedShape> prepared_;
  CallArguments arguments_;
  CallHeader header_;
  Binding binding_;
  HeaderExchange exchange_;
  std::vector<ProgramRun> window_;
  std::unique_ptr<ProgramRun> once_;  // prologue, then epilogue
  Phase phase_ = Phase::kMatching;
  int64_t next_chunk_ = 0;
  int window_chunks_;
  CallSetting setting_;
};

}  // namespace rondo
