#include "optimizer/examples/train_options.h"

#include "fmt/format.h"
#include "optimizer/kernels/adam_rule.h"

namespace rondo {

Status CheckTrainOptions(const TrainOptions& options) {
  // Limits that keep a slip of the finger from asking for all memory.
  const struct {
    const char* name;
    int value;
    int most;
  } ranges[] = {{"steps", options.steps, 10'000'000},
                {"global_batch", options.global_batch, 1'000'000},
                {"context", options.context, 1024},
                {"embedding", options.embedding, 4096},
                {"hidden", options.hidden, 65536}};
  for (const auto& [name, value, most] : ranges) {
    if (value < 1 || value > most) {
      return InvalidArgument(
          fmt::format("{} is {}: 1 to {} is accepted", name, value, most));
    }
  }
  return CheckAdamHyper({.learning_rate = options.learning_rate,
                         .weight_decay = options.weight_decay});
}

void AddTrainOptions(const TrainOptions& options, Agreement* agreement) {
  agreement->AddInteger("steps", options.steps);
  agreement->AddInteger("global_batch", options.global_batch);
  agreement->AddInteger("context", options.context);
  agreement->AddInteger("embedding", options.embedding);
  agreement->AddInteger("hidden", options.hidden);
  agreement->AddNumber("max_norm", options.max_norm);
  agreement->AddInteger("seed", static_cast<int64_t>(options.seed));
}

}  // namespace rondo
