#include "perf/train/train_command.h"

#include <limits>
#include <memory>
#include <string>

#include "collectives/communicator.h"
#include "perf/bench/one_rank.h"
#include "perf/cli/options.h"
#include "perf/cli/report_error.h"
#include "perf/cli/text_file.h"
#include "perf/launch/ranks_option.h"

namespace rondo::perf {
namespace {

constexpr char kExamples[] =
    "  rondo train --ranks 4 --steps 200\n"
    "  rondo train --ranks 2 --text book.txt --hidden 256 --svg book.svg\n"
    "  rondo train --ranks 4 --param-type bfloat16 -J train.json\n"
    "  mpirun -np 4 rondo train --steps 1000\n\n"
    "Any number of ranks sees the same batches and reaches the same loss "
    "within rounding.\n";

void AddType(CLI::App* app, const std::string& name,
             const std::string& description, DataType* type) {
  AddParsedOption(app, name, description + ": float, bfloat16 or half", "TYPE",
                  type, ParseTrainingType)
      ->default_str("float");
}

void AddModel(CLI::App* app, TrainOptions* train) {
  AddNumberOption(app, "--context", "characters that the model sees", 1, 1024,
                  &train->context);
  AddNumberOption(app, "--embedding", "numbers per character", 1, 4096,
                  &train->embedding);
  AddNumberOption(app, "--hidden", "units of the hidden layer", 1, 65536,
                  &train->hidden);
  AddType(app, "--grad-type", "type of the gradients", &train->gradient_type);
  AddType(app, "--param-type", "type of the parameters",
          &train->parameter_type);
}

void AddFiles(CLI::App* app, TrainOptions* train) {
  app->add_option("--text", train->corpus_path,
                  "text to learn (default: the licence texts of Debian)")
      ->type_name("FILE");
  train->svg_path = "loss.svg";
  app->add_option("--svg", train->svg_path,
                  "where the loss curve goes; empty: nowhere")
      ->type_name("FILE")
      ->capture_default_str();
  app->add_option("-J,--json", train->json_path, "write the result as JSON")
      ->type_name("FILE");
  app->add_flag("--quiet", train->quiet, "print nothing but errors");
}

Status CheckFiles(const TrainOptions& train) {
  RONDO_RETURN_IF_ERROR(CheckWritable(train.svg_path).WithContext("--svg"));
  return CheckWritable(train.json_path).WithContext("--json");
}

int TrainAsOneRank(const TrainOptions& train) {
  return RunOneRank([&](Communicator* communicator) -> Result<bool> {
    RONDO_RETURN_IF_ERROR(Train(communicator, train).status());
    return true;
  });
}

}  // namespace

void AddTrainCommandOptions(CLI::App* app, TrainCommandOptions* options) {
  TrainOptions* train = &options->train;
  AddRanksOption(app, &options->local_ranks);
  AddNumberOption(app, "--steps", "optimizer steps", 1, 10000000,
                  &train->steps);
  AddNumberOption(app, "--batch", "samples of a step, over all ranks", 1,
                  1000000, &train->global_batch);
  app->add_option("--lr,--learning-rate", train->learning_rate,
                  "learning rate at the start")
      ->type_name("RATE")
      ->check(CLI::Range(0.0, 1e3))
      ->capture_default_str();
  app->add_option("--weight-decay", train->weight_decay,
                  "decoupled weight decay")
      ->type_name("RATE")
      ->check(CLI::Range(0.0, 1e3))
      ->capture_default_str();
  app->add_option("--max-norm", train->max_norm,
                  "clip gradients to this global norm; 0: do not")
      ->type_name("NORM")
      ->check(CLI::Range(0.0, 1e30))
      ->capture_default_str();
  AddParsedOption(app, "--schedule",
                  "how a step moves its data: fused or separate", "SCHEDULE",
                  &train->schedule, ParseStepSchedule)
      ->default_str("fused");
  AddModel(app, train);
  app->add_option("--seed", train->seed, "of initial values and batches")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  AddFiles(app, train);
}

void AddTrainCommand(Commands* commands) {
  auto options = std::make_shared<TrainCommandOptions>();
  CLI::App* app = commands->Add(
      nullptr, "train", "train a small model with a sharded optimizer",
      kExamples, [options](const Invocation& invocation) {
        // Where ranks are started here, rank 0's files are this host's.
        const Status status = options->local_ranks == 0
                                  ? Status::Ok()
                                  : CheckFiles(options->train);
        if (!status.ok()) {
          ReportError(status);
          return static_cast<int>(kExitUsage);
        }
        return RunAsRanks(invocation, options->local_ranks,
                          [&] { return TrainAsOneRank(options->train); });
      });
  AddTrainCommandOptions(app, options.get());
}

}  // namespace rondo::perf
