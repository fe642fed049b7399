#include "perf/step/step_model.h"

#include "optimizer/layout/model_shapes.h"

namespace rondo::perf {

std::vector<LayoutParameter> StepParameters(
    const StepBenchmarkOptions& options) {
  if (!options.model.empty()) return Gpt2Parameters(options.parameter_type);
  return {{.name = "parameters",
           .shape = {static_cast<size_t>(options.parameters)},
           .type = options.parameter_type}};
}

std::vector<AdamHyper> StepHypers() {
  const AdamHyper decayed = {
      .learning_rate = 0.01, .epsilon = 0.1, .weight_decay = 0.1};
  AdamHyper kept = decayed;
  kept.weight_decay = 0;
  return {decayed, kept};
}

ShardedOptimizerOptions StepOptimizerOptions(
    const StepBenchmarkOptions& options, StepSchedule schedule) {
  return {
      .parameters = StepParameters(options),
      .bucket_count_target = static_cast<size_t>(options.bucket_count_target),
      .gradient_type = options.gradient_type,
      .schedule = schedule};
}

}  // namespace rondo::perf
