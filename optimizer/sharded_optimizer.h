// ShardedOptimizer: an optimizer whose state is spread over the ranks of a
// communicator, with any update rule.
//
// Every rank holds the whole model and computes gradients on its own part of
// the batch. The optimizer's state (fp32 master copy and the rule's arrays: 12
// bytes a parameter for Adam) is cut into one shard per rank, as ModelLayout
// says; this is stage 1 of ZeRO. A step reduces the gradients, updates each
// rank's shard, and gathers the new parameters: one pass over memory, in which
// gradients are read from all ranks and parameters written to all ranks.
//
// With clipping, a loss scale or a check for infinities the update may not
// begin before all gradients were seen. The step is two passes then: the first
// sums the gradients and measures the sum, which it keeps in fp32 unless
// reading all gradients again is cheaper; the second updates and gathers. What
// was measured is summed exactly (ExactSum), so the norm does not depend on how
// sums were dealt out. A step that is skipped is skipped on all ranks and
// changes nothing.
//
// Bits: on one host, where sums are made in rank order and in fp32, parameters
// and state depend on neither bucket size nor on whether the step runs in one
// pass or several, nor on where buffers lie. Across hosts, with
// RONDO_ALGO=ring, and for ordinary memory that ranks may not read of each
// other, sums go around a ring in the gradients' own type: they are the same
// for both schedules, but from three ranks on depend on how the model is cut.
//
// Buffers: gradients and parameters are the flat buffers of the layout
// (gradient_count() elements, parameter_bytes() bytes), of any memory; the step
// is fastest where all of it is symmetric (SymmetricBuffer), because ranks then
// read and write each other's directly. All ranks end a step with the same bits
// in `parameters`; padding is undefined.
//
// Create() and Step() are collective. Create() compares layout, rule and
// initial values over all ranks and fails on each of them when one differs,
// naming rank and parameter. Steps compare the rule's settings and options;
// arguments that one rank refuses are an error there at once, and elsewhere
// when the deadline of the step passes.
//
// Thread-safety: one thread at a time. Ownership: owns rule and state;
// communicator and buffers stay the caller's. Failure: a step that fails
// halfway leaves the state undefined, so its error is returned by all later
// steps; arguments that are refused change nothing.
//
// Example (every rank):
//   ShardedOptimizerOptions options;
//   options.parameters = {{.name = "weight", .shape = {64, 64}},
//                         {.name = "bias", .shape = {64}, .group = 1}};
//   RONDO_ASSIGN_OR_RETURN(
//       auto rule, AdamRule::Create({{.weight_decay = 0.1},
//                                    {.weight_decay = 0}}));
//   RONDO_ASSIGN_OR_RETURN(
//       ModelLayout layout, ShardedOptimizer::LayoutFor(*comm, options));
//   // ... make parameters and gradients of its size, and fill them ...
//   RONDO_ASSIGN_OR_RETURN(
//       auto optimizer,
//       ShardedOptimizer::Create(comm, std::move(rule), options, parameters));
//   for (...) {
//     ComputeGradients(parameters, gradients);  // of this rank's samples
//     RONDO_ASSIGN_OR_RETURN(
//         StepResult result,
//         optimizer->Step(gradients, parameters, {.max_norm = 1.0}));
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/kernels/data_type.h"
#include "optimizer/kernels/update_rule.h"
#include "optimizer/layout/model_layout.h"
#include "optimizer/step/step_result.h"
#include "transports/base/status.h"

namespace rondo {

// How a step moves its data. Bits are the same.
enum class StepSchedule {
  kFused,     // as few passes over memory as the step allows
  kSeparate,  // reduce-scatter, update, all-gather: for comparison
};

// "fused", "separate".
std::string_view StepScheduleName(StepSchedule schedule);
Result<StepSchedule> ParseStepSchedule(std::string_view text);

struct ShardedOptimizerOptions {
  std::vector<LayoutParameter> parameters;  // in order of use
  // Elements of a bucket; see LayoutOptions.
  size_t bucket_count_target = LayoutOptions().bucket_count_target;
  // Of all gradients: half, bfloat16, float or double.
  DataType gradient_type = DataType::kFloat32;
  // True: the step sees the mean over ranks. False: their sum, for gradients
  // that already carry the weight of their samples in the global batch.
  bool average_gradients = true;
  StepSchedule schedule = StepSchedule::kFused;
};

// Bytes on one rank, by class, with padding. Gradients and parameters are the
// caller's buffers; the rest is this rank's shard.
struct OptimizerBytes {
  LayoutBytes layout;
  ClassBytes scratch;  // sums of gradients, once a step needed two passes

  size_t total() const { return layout.total() + scratch.total(); }
};

class ShardedOptimizer {
 public:
  // What Create() will use: a function of the options and the world size.
  static Result<ModelLayout> LayoutFor(const Communicator& communicator,
                                       const ShardedOptimizerOptions& options);

  // `parameters`: the flat buffer with initial values, the same on every rank;
  // the master copy starts from them. The communicator must outlive the
  // optimizer.
  static Result<std::unique_ptr<ShardedOptimizer>> Create(
      Communicator* communicator, std::unique_ptr<UpdateRule> rule,
      const ShardedOptimizerOptions& options, const void* parameters);
  // Stands in for Create() on a rank that has nothing to create, because
  // something went wrong before: returns `why`, and makes Create() fail on all
  // others, with a message that names this rank.
  static Status RefuseToCreate(Communicator* communicator, const Status& why);
  ~ShardedOptimizer();
  ShardedOptimizer(const ShardedOptimizer&) = delete;
  ShardedOptimizer& operator=(const ShardedOptimizer&) = delete;

  // Sets a parameter's master copy to fp32 values, of which this rank keeps
  // what it owns, and its rounded values in `parameters`. For initial values
  // with more digits than the model's type has. Not collective; all ranks
  // should do the same.
  Status SetParameter(int parameter, std::span<const float> values,
                      void* parameters);

  // One step: reads `gradients`, writes all of `parameters` that is not frozen.
  // They must not overlap.
  Result<StepResult> Step(const void* gradients, void* parameters,
                          const StepOptions& options = {});

  const ModelLayout& layout() const;
  // To change hyper-parameters between steps, the same way on every rank.
  UpdateRule& rule();
  int64_t steps() const;  // made so far; skipped ones do not count
  OptimizerBytes bytes() const;

  // This rank's state, to save and restore: layout().state_count() elements
  // each, where ShardPiece::state_offset says. A restored optimizer also needs
  // the number of steps. Not during a step.
  std::span<float> master();
  std::span<float> state(int index);  // 0 up to the rule's state_count()
  void SetSteps(int64_t steps);

 private:
  class Impl;
  explicit ShardedOptimizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rondo
