// Executor: does the arithmetic of a plan's steps.
//
// The engine says what (copy, reduce); the executor says where it runs: on the
// host now, on a CUDA stream once device memory exists. Work is finished when
// Idle() is true, and the engine looks before it goes on to the next step.
//
// Thread-safety: one thread at a time, the one inside the engine. Ownership:
// none taken. Failure: kNotSupported for memory that the executor cannot reach.
//
// Example:
//   RONDO_RETURN_IF_ERROR(executor->Copy(to, from, StoreHint::kCached));
//   if (!executor->Idle()) return Progress::kBlocked;
#pragma once

#include <memory>
#include <span>

#include "collectives/kernels/data_type.h"
#include "collectives/kernels/store_hint.h"
#include "transports/base/status.h"
#include "transports/contract/transport.h"

namespace rondo {

// How partial results are combined.
struct ReduceOperation {
  DataType type;
  Reduction reduction;
  int divisor = 1;  // ranks, where an average is completed
};

class Executor {
 public:
  virtual ~Executor() = default;

  // `to` and `from` have equal sizes, and are disjoint or identical.
  virtual Status Copy(MutableBuffer to, ConstBuffer from, StoreHint hint) = 0;
  // Elementwise over sources of equal size; `to` may be one of them.
  virtual Status Reduce(const ReduceOperation& operation,
                        std::span<const ConstBuffer> sources, MutableBuffer to,
                        StoreHint hint) = 0;
  // Whether everything submitted so far has finished.
  virtual bool Idle() = 0;
};

// Runs everything at once, on the calling thread.
std::unique_ptr<Executor> MakeHostExecutor();

}  // namespace rondo
