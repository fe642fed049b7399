// StepBenchmark: one rank's buffers, optimizers and ways of stepping, checked,
// timed in turns, and checked again.
//
// There are two ShardedOptimizers, one for each schedule; steps of separate
// passes work on the state of the second. Others may add ways of their own.
// A way is right when its parameters, after a few steps from known values, are
// within the bound of the reference in double, and, for what promises it, equal
// to those of the fused step in every bit.
//
// Thread-safety: one thread. Ownership: refers to options and communicator,
// which must outlive it. Failure: the first error of a call or of memory.
// Collective: every rank calls the same functions.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(const auto benchmark,
//                          StepBenchmark::Create(options, communicator));
//   RONDO_RETURN_IF_ERROR(benchmark->Run(&progress, &run));
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "optimizer/sharded_optimizer.h"
#include "perf/bench/buffer.h"
#include "perf/cli/progress_line.h"
#include "perf/step/model_check.h"
#include "perf/step/private_memory.h"
#include "perf/step/separate_step.h"
#include "perf/step/step_limit.h"
#include "perf/step/step_options.h"
#include "perf/step/step_report.h"
#include "transports/base/status.h"

namespace rondo::perf {

struct StepWay {
  std::string figure;
  std::string name;
  bool clips = false;
  bool same_bits = false;  // as the fused step
  ShardedOptimizer* optimizer = nullptr;
  // Returns the norm that it found; 0 where nobody measured.
  std::function<Result<double>(const void* gradients, void* parameters,
                               double max_norm)>
      step;
};

class StepBenchmark {
 public:
  static Result<std::unique_ptr<StepBenchmark>> Create(
      const StepBenchmarkOptions& options, Communicator* communicator);

  // A step of separate passes around these collectives.
  void AddSeparateStep(std::string_view figure, std::string name, bool clips,
                       StepCollectives collectives);

  const ModelLayout& layout() const { return separate_->layout(); }

  // Fills in what was measured, and the facts about the model.
  Status Run(ProgressLine* progress, StepRun* run);

 private:
  StepBenchmark(const StepBenchmarkOptions& options, Communicator* communicator)
      : options_(options), communicator_(communicator) {}

  Status Prepare();
  Status Allocate(const ModelLayout& layout);
  Result<std::unique_ptr<ShardedOptimizer>> MakeOptimizer(
      StepSchedule schedule) const;
  void AddOptimizerStep(std::string_view figure, std::string name, bool clips,
                        ShardedOptimizer* optimizer);
  void AddAllSteps();
  double max_norm() const;

  Status Check(uint64_t seed);
  Result<std::vector<double>> Coefficients(const ModelCheck& check, bool clips,
                                           std::vector<double>* norms) const;
  Status CheckWays(const ModelCheck& check, bool clips);
  Status MakeSteps(const ModelCheck& check, const StepWay& way,
                   const std::vector<double>& norms);
  Status Time(uint64_t seed, StepRun* run);
  void Describe(StepRun* run) const;

  const StepBenchmarkOptions& options_;
  Communicator* communicator_;
  Buffer gradients_;
  Buffer parameters_;
  Buffer fused_parameters_;  // what the fused step gave, to compare with
  PrivateMemory shard_;      // fp32 gradients of the steps of separate passes
  std::unique_ptr<ShardedOptimizer> fused_;
  std::unique_ptr<ShardedOptimizer> separate_;
  std::vector<std::unique_ptr<SeparateStep>> separate_steps_;
  std::vector<StepWay> ways_;
  int64_t wrong_ = 0;
  int64_t checked_ = 0;
};

}  // namespace rondo::perf
