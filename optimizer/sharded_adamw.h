// ShardedAdamW: AdamW whose state is spread over the ranks of a communicator.
//
// Every rank holds the whole model and computes gradients on its own part of
// the batch. The optimizer's state (fp32 master copy, two moments: 12 bytes a
// parameter) is cut into one shard per rank (ShardLayout); this is stage 1 of
// ZeRO. A step is one plan: the gradients are reduce-scattered, each rank
// updates its shard, and the new parameters are all-gathered, chunk by chunk,
// with no barrier in between.
//
// Gradients and parameters are flat arrays of layout().total_count() elements,
// the parameters of the model end to end, in the types of the options. All
// ranks end a step with the same bits in `parameters`.
//
// Create() and the steps are collective. Create() compares layout, types,
// hyper-parameters and initial values over all ranks and fails on each of them
// when one differs, naming ranks and field. Later changes of the learning rate
// must be the same on all ranks; they are not compared.
//
// Thread-safety: one thread at a time. Ownership: owns its state; communicator
// and arrays stay the caller's, and the arrays belong to the step from
// StepStart() until its request is done. The destructor waits for a step that
// is still running, until the deadline of that call. Failure: a step that fails
// halfway leaves the state undefined, so its error is returned by all later
// steps; arguments that are refused change nothing.
//
// Example (every rank):
//   ShardedAdamWOptions options;
//   options.parameters = {{"weight", 4096}, {"bias", 64, /*decay=*/false}};
//   RONDO_ASSIGN_OR_RETURN(
//       auto optimizer,
//       ShardedAdamW::Create(comm, options, parameters.data()));
//   for (...) {
//     ComputeGradients(parameters, &gradients);  // of this rank's samples
//     RONDO_RETURN_IF_ERROR(
//         optimizer->Step(gradients.data(), parameters.data()));
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/kernels/data_type.h"
#include "optimizer/kernels/adamw.h"
#include "optimizer/kernels/adamw_update.h"
#include "optimizer/layout/shard_layout.h"
#include "transports/base/status.h"

namespace rondo {

struct ShardedAdamWOptions {
  std::vector<ParameterSpec> parameters;
  AdamWHyper hyper;
  DataType gradient_type = DataType::kFloat32;
  DataType parameter_type = DataType::kFloat32;
  // True: the step sees the mean over ranks. False: their sum, for gradients
  // that already carry the weight of their samples in the global batch.
  bool average_gradients = true;
  size_t shard_alignment = kDefaultShardAlignment;  // elements
};

// Bytes on one rank. Parameters and gradients are the caller's whole arrays;
// the rest is this rank's shard. The communicator's own buffers are not
// included.
struct OptimizerBytes {
  size_t parameters = 0;
  size_t gradients = 0;
  size_t master = 0;
  size_t first_moment = 0;
  size_t second_moment = 0;
  size_t scratch = 0;

  size_t Total() const {
    return parameters + gradients + master + first_moment + second_moment +
           scratch;
  }
};

class ShardedAdamW {
 public:
  // `initial`: the whole vector in fp32, the same on every rank; it is copied.
  // The communicator must outlive the optimizer.
  static Result<std::unique_ptr<ShardedAdamW>> Create(
      Communicator* communicator, const ShardedAdamWOptions& options,
      const float* initial);
  ~ShardedAdamW();
  ShardedAdamW(const ShardedAdamW&) = delete;
  ShardedAdamW& operator=(const ShardedAdamW&) = delete;

  // One step: reads `gradients`, writes all of `parameters`. They must not
  // overlap.
  Status Step(const void* gradients, void* parameters);
  // The same, but returns at once. One step may be in flight at a time.
  Result<Request> StepStart(const void* gradients, void* parameters);

  // From the next step on.
  Status SetLearningRate(double learning_rate);

  int64_t steps() const { return steps_; }  // started so far
  OptimizerBytes bytes() const;
  const ShardLayout& layout() const { return update_.layout(); }
  // This rank's state; not while a step is in flight.
  const AdamWUpdate& state() const { return update_; }

 private:
  ShardedAdamW(Communicator* communicator, DataType gradient_type,
               DataType parameter_type, AdamWUpdate update);
  Status FinishPending();

  Communicator* communicator_;
  DataType gradient_type_;
  DataType parameter_type_;
  AdamWUpdate update_;
  int64_t steps_ = 0;
  std::optional<Request> pending_;
  Status failure_;  // of the step that left the state undefined
};

}  // namespace rondo
