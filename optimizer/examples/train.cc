#include "optimizer/examples/train.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "collectives/kernels/convert.h"
#include "collectives/symmetric_buffer.h"
#include "fmt/format.h"
#include "optimizer/agreement/agreement.h"
#include "optimizer/examples/char_model.h"
#include "optimizer/examples/corpus.h"
#include "optimizer/examples/loss_curve.h"
#include "optimizer/examples/random.h"
#include "optimizer/examples/train_options.h"
#include "optimizer/examples/train_report.h"
#include "optimizer/kernels/adam_rule.h"
#include "transports/base/atomic_file.h"
#include "transports/base/clock.h"

namespace rondo {
namespace {

constexpr double kLastLearningRate = 0.1;  // of the first
constexpr int kProgressLines = 10;
constexpr int kSampleCharacters = 240;
constexpr double kSampleTemperature = 0.6;

// The model's own fp32 array, its parts end to end, and the flat buffer of the
// layout, where they lie padded and in the type that the step wants.
class LaidOutArray {
 public:
  // Where each parameter begins in the buffer.
  LaidOutArray(DataType type, std::vector<float> values,
               std::vector<size_t> counts, std::vector<size_t> offsets_bytes)
      : type_(type),
        values_(std::move(values)),
        counts_(std::move(counts)),
        offsets_bytes_(std::move(offsets_bytes)) {}

  // Shared memory of the host, so that a step reads and writes it directly.
  Status Allocate(size_t bytes) {
    RONDO_ASSIGN_OR_RETURN(buffer_, SymmetricBuffer::Allocate(bytes));
    return Status::Ok();
  }

  std::vector<float>& values() { return values_; }
  void* buffer() { return buffer_.data(); }
  Status Narrow() {  // values() to buffer()
    return ForEachPart([&](float* values, char* laid_out, size_t count) {
      return ConvertElements(DataType::kFloat32, values, type_, laid_out,
                             count);
    });
  }
  Status Widen() {  // buffer() to values()
    return ForEachPart([&](float* values, char* laid_out, size_t count) {
      return ConvertElements(type_, laid_out, DataType::kFloat32, values,
                             count);
    });
  }

 private:
  template <typename Function>
  Status ForEachPart(const Function& function) {
    float* values = values_.data();
    for (size_t i = 0; i < counts_.size(); ++i) {
      RONDO_RETURN_IF_ERROR(function(
          values, static_cast<char*>(buffer_.data()) + offsets_bytes_[i],
          counts_[i]));
      values += counts_[i];
    }
    return Status::Ok();
  }

  DataType type_;
  std::vector<float> values_;
  std::vector<size_t> counts_;  // of each parameter
  std::vector<size_t> offsets_bytes_;
  SymmetricBuffer buffer_;
};

// The text, when this rank's options are good, it can be read, and all ranks
// have the same.
Result<Corpus> AgreeOnCorpus(Communicator* communicator,
                             const TrainOptions& options) {
  Corpus corpus;
  Status status = CheckTrainOptions(options);
  if (status.ok()) {
    Result<Corpus> loaded = LoadCorpus(options.corpus_path);
    status = loaded.status();
    if (loaded.ok()) corpus = *std::move(loaded);
  }
  const size_t least = static_cast<size_t>(std::max(options.context, 0)) + 1;
  if (status.ok() && corpus.tokens.size() < least) {
    status = InvalidArgument(fmt::format(
        "{} has {} characters: a context of {} needs at least {}",
        corpus.source, corpus.tokens.size(), options.context, least));
  }
  Agreement agreement("training options");
  agreement.Refuse(status.WithContext(
      fmt::format("training on rank {}", communicator->rank())));
  AddTrainOptions(options, &agreement);
  agreement.AddInteger("the size of the text in bytes", corpus.tokens.size());
  agreement.AddHash("the text",
                    Fingerprint(corpus.tokens.data(), corpus.tokens.size(),
                                FingerprintText(corpus.vocabulary)));
  RONDO_RETURN_IF_ERROR(agreement.Check(communicator));
  return corpus;
}

// The losses of all ranks' slices, added in rank order.
Result<double> SumOverRanks(Communicator* communicator, double mine) {
  std::vector<double> all(communicator->world_size());
  RONDO_RETURN_IF_ERROR(
      communicator->AllGather(&mine, all.data(), 1, DataType::kFloat64));
  double sum = 0;
  for (double one : all) sum += one;
  return sum;
}

Result<std::vector<TrainBytes>> GatherBytes(Communicator* communicator,
                                            const OptimizerBytes& mine) {
  const LayoutBytes& classes = mine.layout;
  const TrainBytes own{
      .parameters = classes.parameters.total(),
      .gradients = classes.gradients.total(),
      .master = classes.master.total(),
      .moments = classes.moments.total(),
      .scratch = mine.scratch.total(),
      .padding = classes.parameters.padding + classes.gradients.padding +
                 classes.master.padding + classes.moments.padding +
                 mine.scratch.padding};
  std::vector<TrainBytes> all(communicator->world_size());
  RONDO_RETURN_IF_ERROR(communicator->AllGather(
      &own, all.data(), sizeof(own) / sizeof(uint64_t), DataType::kUint64));
  return all;
}

// One rank's side of a run.
class Trainer {
 public:
  Trainer(Communicator* communicator, const TrainOptions& options,
          Corpus corpus)
      : communicator_(communicator),
        options_(options),
        corpus_(std::move(corpus)),
        model_({.vocabulary = static_cast<int>(corpus_.vocabulary.size()),
                .context = options.context,
                .embedding = options.embedding,
                .hidden = options.hidden}) {}

  Result<TrainResult> Run() {
    RONDO_RETURN_IF_ERROR(MakeOptimizer());
    PrintHeader();
    const int64_t start_ns = NowNs();
    for (int step = 1; step <= options_.steps; ++step) {
      RONDO_RETURN_IF_ERROR(RunStep(step));
      result_.seconds = static_cast<double>(NowNs() - start_ns) * 1e-9;
      PrintProgress(step);
    }
    RONDO_RETURN_IF_ERROR(Finish());
    return std::move(result_);
  }

 private:
  bool prints() const { return communicator_->rank() == 0 && !options_.quiet; }

  Status MakeOptimizer() {
    ShardedOptimizerOptions options;
    options.parameters = model_.parameters();
    for (LayoutParameter& parameter : options.parameters) {
      parameter.type = options_.parameter_type;
    }
    options.gradient_type = options_.gradient_type;
    // Each sample already carries its weight of 1 / global_batch.
    options.average_gradients = false;
    options.schedule = options_.schedule;
    RONDO_ASSIGN_OR_RETURN(
        const ModelLayout layout,
        ShardedOptimizer::LayoutFor(*communicator_, options));
    RONDO_RETURN_IF_ERROR(MakeArrays(layout));
    RONDO_ASSIGN_OR_RETURN(auto rule,
                           AdamRule::Create({Hyper(1, 0), Hyper(1, 1)}));
    rule_ = rule.get();
    RONDO_ASSIGN_OR_RETURN(
        optimizer_, ShardedOptimizer::Create(communicator_, std::move(rule),
                                             options, parameters_->buffer()));
    return SetMasterCopies();
  }

  Status MakeArrays(const ModelLayout& layout) {
    std::vector<size_t> counts, parameter_places, gradient_places;
    for (size_t i = 0; i < layout.parameters().size(); ++i) {
      const PlacedPiece place = layout.PlaceOf(static_cast<int>(i));
      counts.push_back(layout.parameters()[i].count());
      parameter_places.push_back(place.parameter_offset_bytes);
      gradient_places.push_back(place.gradient_offset *
                                ElementSize(options_.gradient_type));
    }
    parameters_.emplace(options_.parameter_type,
                        model_.InitialParameters(options_.seed), counts,
                        parameter_places);
    gradients_.emplace(options_.gradient_type,
                       std::vector<float>(model_.parameter_count()), counts,
                       gradient_places);
    RONDO_RETURN_IF_ERROR(parameters_->Allocate(layout.parameter_bytes()));
    RONDO_RETURN_IF_ERROR(gradients_->Allocate(
        layout.gradient_count() * ElementSize(options_.gradient_type)));
    return parameters_->Narrow();
  }

  // With all digits of the initial values.
  Status SetMasterCopies() {
    std::span<const float> values = parameters_->values();
    for (size_t i = 0; i < model_.parameters().size(); ++i) {
      const size_t count = model_.parameters()[i].count();
      RONDO_RETURN_IF_ERROR(optimizer_->SetParameter(
          static_cast<int>(i), values.first(count), parameters_->buffer()));
      values = values.subspan(count);
    }
    return Status::Ok();
  }

  AdamHyper Hyper(int step, int group) const {
    return {.learning_rate = LearningRate(step),
            .weight_decay = group == 0 ? options_.weight_decay : 0};
  }

  Status RunStep(int step) {
    // This rank's slice of the global batch.
    const std::vector<size_t> places = BatchPlaces(
        corpus_, options_.context, options_.seed, step, options_.global_batch);
    const CharBatch batch = MakeBatch(
        corpus_, options_.context,
        RankSlice(places, communicator_->rank(), communicator_->world_size()));
    // Forward and backward.
    std::vector<float>& gradients = gradients_->values();
    std::fill(gradients.begin(), gradients.end(), 0.0f);
    const double loss = model_.LossAndGradient(
        parameters_->values(), batch, 1.0 / options_.global_batch, gradients);
    RONDO_RETURN_IF_ERROR(gradients_->Narrow());
    // Reduce-scatter, update and all-gather as one plan.
    for (int group : {0, 1}) {
      RONDO_RETURN_IF_ERROR(rule_->SetGroup(group, Hyper(step, group)));
    }
    RONDO_ASSIGN_OR_RETURN(
        const StepResult made,
        optimizer_->Step(gradients_->buffer(), parameters_->buffer(),
                         {.max_norm = options_.max_norm}));
    if (made.skipped) ++result_.skipped_steps;
    RONDO_RETURN_IF_ERROR(parameters_->Widen());

    RONDO_ASSIGN_OR_RETURN(double global_loss,
                           SumOverRanks(communicator_, loss));
    result_.losses.push_back(global_loss);
    return Status::Ok();
  }

  double LearningRate(int step) const {
    const double done = static_cast<double>(step - 1) / options_.steps;
    return options_.learning_rate * (1 - (1 - kLastLearningRate) * done);
  }

  Status Finish() {
    result_.ranks = communicator_->world_size();
    result_.parameters = model_.parameter_count();
    result_.corpus = corpus_.source;
    result_.tokens_per_s = TokensPerSecond(options_.steps);
    RONDO_ASSIGN_OR_RETURN(result_.bytes,
                           GatherBytes(communicator_, optimizer_->bytes()));
    result_.sample = WriteSample();
    // The others need not wait for rank 0's disk, nor fail with it.
    if (communicator_->rank() != 0) return Status::Ok();
    if (!options_.svg_path.empty()) {
      RONDO_RETURN_IF_ERROR(WriteFileAtomically(
          options_.svg_path, LossCurveSvg(result_.losses, CurveTitle())));
    }
    if (!options_.json_path.empty()) {
      RONDO_RETURN_IF_ERROR(WriteFileAtomically(options_.json_path,
                                                TrainJson(options_, result_)));
    }
    PrintSummary();
    return Status::Ok();
  }

  double TokensPerSecond(int steps) const {
    return static_cast<double>(steps) * options_.global_batch /
           std::max(result_.seconds, 1e-9);
  }

  std::string CurveTitle() const {
    return fmt::format("Character model, {} parameters, {} rank{}",
                       result_.parameters, result_.ranks,
                       result_.ranks == 1 ? "" : "s");
  }

  // Continues the beginning of the text, one character at a time, each drawn
  // from the model's probabilities sharpened by the temperature.
  std::string WriteSample() {
    std::vector<int> context(corpus_.tokens.begin(),
                             corpus_.tokens.begin() + options_.context);
    std::vector<int> written;
    Random random(options_.seed);
    for (int i = 0; i < kSampleCharacters; ++i) {
      const auto predicted = model_.Predict(parameters_->values(), context);
      std::vector<double> weights(predicted.begin(), predicted.end());
      double sum = 0;
      for (double& weight : weights) {
        weight = std::pow(weight, 1 / kSampleTemperature);
        sum += weight;
      }
      double rest = random.Fraction() * sum;
      size_t token = 0;
      while (token + 1 < weights.size() && rest >= weights[token]) {
        rest -= weights[token++];
      }
      written.push_back(static_cast<int>(token));
      context.erase(context.begin());
      context.push_back(static_cast<int>(token));
    }
    return corpus_.Decode(written);
  }

  void PrintHeader() const {
    if (!prints()) return;
    fmt::print("text: {}, {} characters, {} of them different\n",
               corpus_.source, corpus_.tokens.size(),
               corpus_.vocabulary.size());
    fmt::print("model: {} parameters; batch: {} characters over {} rank{}\n\n",
               model_.parameter_count(), options_.global_batch,
               communicator_->world_size(),
               communicator_->world_size() == 1 ? "" : "s");
    fmt::print("{:>8}{:>10}{:>12}\n", "step", "loss", "tokens/s");
  }

  void PrintProgress(int step) const {
    const int interval = std::max(1, options_.steps / kProgressLines);
    const bool due =
        step == 1 || step == options_.steps || step % interval == 0;
    if (!prints() || !due) return;
    fmt::print("{:>8}{:>10.4f}{:>12.0f}\n", step, result_.losses.back(),
               TokensPerSecond(step));
    std::fflush(stdout);
  }

  void PrintSummary() const {
    if (!prints()) return;
    if (result_.skipped_steps > 0) {
      fmt::print("\n{} steps were skipped: a gradient was not finite\n",
                 result_.skipped_steps);
    }
    fmt::print("\nwhat the model writes:\n{}\n\n", result_.sample);
    fmt::print("bytes per rank by class (master and moments are sharded):\n{}",
               BytesTable(result_));
    if (!options_.svg_path.empty()) {
      fmt::print("\nloss curve: {}\n", options_.svg_path);
    }
  }

  Communicator* communicator_;
  const TrainOptions& options_;
  Corpus corpus_;
  CharModel<float> model_;
  std::optional<LaidOutArray> parameters_;
  std::optional<LaidOutArray> gradients_;
  AdamRule* rule_ = nullptr;  // the optimizer's
  std::unique_ptr<ShardedOptimizer> optimizer_;
  TrainResult result_;
};

}  // namespace

Result<TrainResult> Train(Communicator* communicator,
                          const TrainOptions& options) {
  if (communicator == nullptr) return InvalidArgument("communicator is null");
  RONDO_ASSIGN_OR_RETURN(Corpus corpus, AgreeOnCorpus(communicator, options));
  return Trainer(communicator, options, std::move(corpus)).Run();
}

}  // namespace rondo
