// StepLimit: how fast this machine's memory lets a step be, measured.
//
// Every rank runs the limit loop (limit_kernel.h) on memory of its own, as
// large as its share of the step: as many gradients and parameters as there are
// ranks, for each element of its shard. There are several ways to write such a
// loop; the fastest of all count, so that nobody can say that it was made slow.
// It is held against plain copying in the same memory, which counts bytes the
// same way: those read and those written.
//
// Thread-safety: one thread. Ownership: owns its memory. Failure: memory that
// cannot be had, and the communicator's errors. Create() is collective.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(const auto limit,
//                          StepLimit::Create(communicator, sizes));
//   for (const Contender& contender : limit->limit_loops()) { ... }
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "collectives/communicator.h"
#include "perf/step/limit_kernel.h"
#include "perf/step/private_memory.h"
#include "perf/step/turns.h"
#include "transports/base/status.h"

namespace rondo::perf {

struct StepSizes {
  size_t shard_count = 0;  // elements; whole tiles
  size_t gradient_bytes = 4;
  size_t parameter_bytes = 4;
};

class StepLimit {
 public:
  // Tries all ways on all ranks at once, and keeps the fastest few.
  static Result<std::unique_ptr<StepLimit>> Create(Communicator* communicator,
                                                   const StepSizes& sizes);

  // Refer to this object.
  const std::vector<Contender>& limit_loops() const { return limit_loops_; }
  const std::vector<Contender>& copy_loops() const { return copy_loops_; }

  // Bytes read and written by one pass, all ranks together.
  size_t limit_bytes() const { return ranks_ * LimitBytes(arrays_); }
  size_t copy_bytes() const;

 private:
  explicit StepLimit(int ranks) : ranks_(static_cast<size_t>(ranks)) {}
  Result<std::byte*> Allocate(size_t bytes);
  Status AllocateAll(const StepSizes& sizes);
  std::vector<Contender> AllLimitLoops() const;
  std::vector<Contender> AllCopyLoops() const;

  size_t ranks_;
  LimitArrays arrays_;
  std::vector<PrivateMemory> memory_;
  std::vector<Contender> limit_loops_;
  std::vector<Contender> copy_loops_;
};

}  // namespace rondo::perf
