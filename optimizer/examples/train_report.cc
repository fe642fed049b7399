#include "optimizer/examples/train_report.h"

#include <cmath>
#include <utility>

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace rondo {
namespace {

std::string BytesLine(const std::string& label, const OptimizerBytes& bytes) {
  return fmt::format("{:<6}{:>13}{:>13}{:>13}{:>13}{:>13}{:>13}{:>13}\n", label,
                     bytes.parameters, bytes.gradients, bytes.master,
                     bytes.first_moment, bytes.second_moment, bytes.scratch,
                     bytes.Total());
}

nlohmann::ordered_json BytesJson(const OptimizerBytes& bytes) {
  return {{"parameters", bytes.parameters},
          {"gradients", bytes.gradients},
          {"master", bytes.master},
          {"first_moment", bytes.first_moment},
          {"second_moment", bytes.second_moment},
          {"scratch", bytes.scratch},
          {"total", bytes.Total()}};
}

}  // namespace

std::string BytesTable(const TrainResult& result) {
  std::string text = fmt::format(
      "{:<6}{:>13}{:>13}{:>13}{:>13}{:>13}{:>13}{:>13}\n", "rank", "parameters",
      "gradients", "master", "moment 1", "moment 2", "scratch", "bytes");
  OptimizerBytes sum;
  for (size_t rank = 0; rank < result.bytes.size(); ++rank) {
    const OptimizerBytes& bytes = result.bytes[rank];
    text += BytesLine(std::to_string(rank), bytes);
    sum.parameters += bytes.parameters;
    sum.gradients += bytes.gradients;
    sum.master += bytes.master;
    sum.first_moment += bytes.first_moment;
    sum.second_moment += bytes.second_moment;
    sum.scratch += bytes.scratch;
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
  for (const OptimizerBytes& rank : result.bytes) {
    bytes.push_back(BytesJson(rank));
  }
  const nlohmann::ordered_json document = {
      {"ranks", result.ranks},
      {"options",
       {{"steps", options.steps},
        {"global_batch", options.global_batch},
        {"learning_rate", options.learning_rate},
        {"weight_decay", options.weight_decay},
        {"context", options.context},
        {"embedding", options.embedding},
        {"hidden", options.hidden},
        {"seed", options.seed},
        {"gradient_type", std::string(DataTypeName(options.gradient_type))},
        {"parameter_type", std::string(DataTypeName(options.parameter_type))}}},
      {"corpus", result.corpus},
      {"parameters", result.parameters},
      {"losses", std::move(losses)},
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
