// Workload: the buffers of one collective call, filled with data whose result
// is known, and the count of what came out wrong.
//
// Fill() gives every input fresh data of the seed and poisons every output, so
// that an element that was not written, or is left over from an earlier call,
// counts as wrong. So does a source that a call has changed. In place follows
// NCCL's pointer rule (communicator.h).
//
// Thread-safety: one thread. Ownership: owns its buffers; Call() points into
// them. Failure: Create() reports memory that cannot be had.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(Workload workload, Workload::Create(spec, rank, 4));
//   workload.Fill(/*in_place=*/false, seed);
//   RONDO_RETURN_IF_ERROR(communicator->Run(workload.Call(false)));
//   int64_t wrong = workload.CountWrong(false, seed);
#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/communicator.h"
#include "collectives/kernels/data_type.h"
#include "collectives/plan/plan.h"
#include "perf/bench/buffer.h"
#include "transports/base/status.h"

namespace rondo::perf {

struct WorkloadSpec {
  Collective collective = Collective::kAllGather;
  DataType type = DataType::kFloat32;
  Reduction reduction = Reduction::kSum;  // reduce-scatter
  int root = 0;                           // broadcast
  size_t count = 1;                       // CollectiveCall::count
  BufferKind buffers = BufferKind::kUser;
};

class Workload {
 public:
  // Only all-gather, reduce-scatter and broadcast.
  static Result<Workload> Create(const WorkloadSpec& spec, int rank, int ranks);

  size_t total_bytes() const { return block_bytes_ * blocks_; }
  CollectiveCall Call(bool in_place) const;
  void Fill(bool in_place, uint64_t seed);
  int64_t CountWrong(bool in_place, uint64_t seed) const;
  // The same without the source: for a call that may change it.
  int64_t CountWrongOutput(bool in_place, uint64_t seed) const;

 private:
  Workload(const WorkloadSpec& spec, int rank, int ranks);

  std::byte* Block(int index) const {
    return all_.data() + index * block_bytes_;
  }
  // The input of an out-of-place call, and how many blocks it has.
  std::byte* Source() const;
  int64_t WrongSource(bool in_place, uint64_t seed) const;

  WorkloadSpec spec_;
  int rank_;
  int ranks_;
  int blocks_;
  size_t block_bytes_;
  Buffer all_;  // every block: the larger side of the call
  Buffer one_;  // one block: the smaller side
};

}  // namespace rondo::perf
