#include "optimizer/examples/train_report.h"

#include <cmath>
#include <utility>

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace rondo {
namespace {

std::string BytesLine(const std::string& label, const TrainBytes& bytes) {
  return fmt::format("{:<6}{:>13}{:>13}{:>13}{:>13}{:>13}{:>13}{:>13}\n", label,
                     bytes.parameters, bytes.gradients, bytes.master,
                     bytes.moments, bytes.scratch, bytes.Total(),
                     bytes.padding);
}

nlohmann::ordered_json BytesJson(const TrainBytes& bytes) {
  return {{"parameters", bytes.parameters}, {"gradients", bytes.gradients},
          {"master", bytes.master},         {"moments", bytes.moments},
          {"scratch", bytes.scratch},       {"total", bytes.Total()},
          {"padding", bytes.padding}};
}

}  // namespace

std::string BytesTable(const TrainResult& result) {
  std::string text = fmt::format(
      "{:<6}{:>13}{:>13}{:>13}{:>13}{:>13}{:>13}{:>13}\n", "rank", "parameters",
      "gradients", "master", "moments", "scratch", "bytes", "padding");
  TrainBytes sum;
  for (size_t rank = 0; rank < result.bytes.size(); ++rank) {
    const TrainBytes& bytes = result.bytes[rank];
    text += BytesLine(std::to_string(rank), bytes);
    sum.parameters += bytes.parameters;
    sum.gradients += bytes.gradients;
    sum.master += bytes.master;
    sum.moments += bytes.moments;
    sum.scratch += bytes.scratch;
    sum.padding += bytes.padding;
  }
  return text + BytesLine("all", sum);
}

std::string TrainJson(const TrainOptions& options, const TrainResult& result) {
  nlohmann::ordered_json losses = nlohmann::ordered_json::array();
  for (double loss : result.losses) {
    // An infinite number would be dropped without a word.
    losses.push_back(std::isfinite(loss) ? nlohmann::ordered_json(loss)
                                         : nlohmann::ordered_json());
  }
  nlohmann::ordered_json bytes = nlohmann::ordered_json::array();
  for (const TrainBytes& rank : result.bytes) {
    bytes.push_back(BytesJson(rank));
  }
  const nlohmann::ordered_json document = {
      {"ranks", result.ranks},
      {"options",
       {{"steps", options.steps},
        {"global_batch", options.global_batch},
        {"learning_rate", options.learning_rate},
        {"weight_decay", options.weight_decay},
        {"max_norm", options.max_norm},
        {"schedule", std::string(StepScheduleName(options.schedule))},
        {"context", options.context},
        {"embedding", options.embedding},
        {"hidden", options.hidden},
        {"seed", options.seed},
        {"gradient_type", std::string(DataTypeName(options.gradient_type))},
        {"parameter_type", std::string(DataTypeName(options.parameter_type))}}},
      {"corpus", result.corpus},
      {"parameters", result.parameters},
      {"losses", std::move(losses)},
      {"skipped_steps", result.skipped_steps},
      {"seconds", result.seconds},
      {"tokens_per_s", result.tokens_per_s},
      {"bytes_per_rank", std::move(bytes)},
      {"sample", result.sample}};
  // Bytes of the sample that are not UTF-8 are replaced, not refused.
  return document.dump(2, ' ', false,
                       nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace rondo
