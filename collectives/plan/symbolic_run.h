// Executes all ranks' programs on symbolic memory, in one possible order, and
// finds whatever would be wrong in any order.
//
// Vector clocks make one order enough. A rank learns of another's steps only
// from a message that it has received or a flag that it has waited for; a
// finished send teaches nothing, because an eager send finishes without its
// receiver. Two touches of one block that are not ordered by such knowledge are
// an error even if this order happened to run them in the right sequence.
//
// Thread-safety: none; one Run() per object. Failure: kInvalidArgument; the
// message names rank, section, step and block.
//
// Example:
//   SymbolicRun run(shape, programs, Placement::kInPlace);
//   RONDO_RETURN_IF_ERROR(run.Run(schedule));
#pragma once

#include <string>
#include <vector>

#include "collectives/plan/peer_access.h"
#include "collectives/plan/plan.h"
#include "collectives/plan/programs.h"
#include "collectives/plan/schedule.h"
#include "collectives/plan/symbolic_memory.h"
#include "transports/base/status.h"

namespace rondo {

class SymbolicRun {
 public:
  // The arguments must outlive the object.
  SymbolicRun(const Shape& shape, const Programs& programs,
              Placement placement);

  // `schedule` must have no stuck ranks.
  Status Run(const Schedule& schedule);

 private:
  // What a send, put or signal carries away until it is waited for.
  struct Departure {
    VectorClock clock;
    std::vector<SymbolicValue> values;
  };
  // These return what is wrong, or nothing.
  std::string Execute(StepId id);
  std::string StartSend(StepId id, const Step& step);
  std::string StartRecv(StepId id, const Step& step);
  std::string StartPut(StepId id, const Step& step);
  std::string DoSignal(StepId id, const Step& step);
  std::string DoWait(StepId id, const PlacedStep& placed);
  std::string DoLocal(StepId id, const Step& step);
  std::string FinishChunk(int rank);
  std::string CheckUpdates() const;
  std::string CheckBarrier() const;
  std::string CheckOutput(int rank);

  // Touching one block, with all rules of ownership and order.
  std::string ReadBlock(int rank, const BlockRef& block, SymbolicValue* value);
  std::string WriteBlock(int rank, const BlockRef& block);
  std::string CheckOverlap(const Step& step, int rank);

  std::string StartReading(StepId id, const BlockRef& source);
  void FinishReading(StepId id, const BlockRef& source);
  std::string StartWriting(StepId id, const BlockRef& destination);
  void FinishWriting(StepId id, const BlockRef& destination,
                     const std::vector<SymbolicValue>& values);

  Touch Now(int rank) const { return {rank, clocks_[rank][rank]}; }
  Departure& DepartureOf(StepId id) { return departures_[id.rank][id.at]; }
  void Learn(int rank, const VectorClock& clock);

  const Shape& shape_;
  const Programs& programs_;
  SymbolicMemory memory_;
  PeerAccess peers_;
  std::vector<VectorClock> clocks_;
  std::vector<std::vector<Departure>> departures_;
  // A rank has one shard and one optimizer state, which an update moves on.
  std::vector<bool> has_updated_;
};

}  // namespace rondo
