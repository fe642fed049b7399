// ProgramRun: one rank's list of steps, run for one chunk index.
//
// A call keeps several of these in flight. Advance() runs steps from where it
// stands until one has to wait; it never blocks, so that the others go on
// meanwhile, and their transfers overlap. The objects are kept from call to
// call, so that a call allocates nothing.
//
// Thread-safety: one thread at a time. Ownership: owns its transfers; they must
// be done (finished program, or Transport::FailAll) before it is destroyed.
// Failure: transfer, memory and update errors, with the step that met them.
//
// Example:
//   run.Bind(&setting, &program.chunk);
//   run.Begin(chunk, slot);
//   RONDO_ASSIGN_OR_RETURN(bool finished, run.Advance(&moved));
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collectives/engine/binding.h"
#include "collectives/engine/call_context.h"
#include "collectives/kernels/store_hint.h"
#include "collectives/plan/plan.h"

namespace rondo {

// What all programs of one call share.
struct CallSetting {
  CallContext* context = nullptr;
  const CallArguments* arguments = nullptr;
  const Binding* binding = nullptr;
  uint64_t sequence = 0;
  int rails = 1;
  // How outputs are stored: past the cache when they do not fit it.
  StoreHint store = StoreHint::kCached;
};

class ProgramRun {
 public:
  // Both must stay until the program has finished.
  void Bind(const CallSetting* setting, const std::vector<Step>* steps);

  // Starts from the top for `chunk`, with scratch `slot`.
  void Begin(int64_t chunk, int slot);
  int64_t chunk() const { return chunk_; }
  bool finished() const { return drained_; }
  // True when the program has finished and none of its transfers is in flight.
  // Sets `*moved` when a step completed.
  Result<bool> Advance(bool* moved);
  // "step 3, wait for recv from rank 2", for reports of passed deadlines.
  std::string WaitingFor() const;

 private:
  enum class Outcome { kNext, kBlocked };

  Result<Outcome> Run(const Step& step);
  void StartTransfers(const Step& step);
  Result<Outcome> WaitForStep(int index);
  Result<Outcome> WaitForTransfers(size_t from, size_t to);
  Result<Outcome> WaitForFlag(const Step& step);
  void Signal(const Step& step);
  Status Combine(const Step& step);
  Status CopyBlock(const Step& step, int k);
  Status ReduceBlock(const Step& step, int k);
  Status Put(const Step& step);
  Result<Outcome> UpdateBlocks(const Step& step);
  Result<size_t> ApplyUpdate(const Step& step, int k,
                             std::span<const void* const> sources, size_t first,
                             size_t count);
  void PrepareUpdates();
  OwnedPiece PieceOf(const BlockRef& block, int k) const;
  int lane() const { return static_cast<int>(chunk_ % setting_->rails); }

  const CallSetting* setting_ = nullptr;
  const std::vector<Step>* steps_ = nullptr;
  // Transfers of step i: [first_transfer_[i], first_transfer_[i + 1]).
  std::vector<size_t> first_transfer_;
  std::unique_ptr<Transfer[]> transfers_;
  size_t transfer_capacity_ = 0;
  std::vector<bool> posted_;
  std::vector<OwnedPiece> sources_;
  std::vector<ConstBuffer> buffers_;
  size_t next_ = 0;  // index of the step to run
  bool drained_ = true;
  int64_t chunk_ = 0;
  int slot_ = 0;
  // An update that asked for more time goes on from here.
  int update_block_ = 0;
  size_t update_done_ = 0;
};

}  // namespace rondo
