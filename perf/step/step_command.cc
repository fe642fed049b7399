#include "perf/step/step_command.h"

#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "optimizer/sharded_adamw.h"
#include "perf/bench/gather.h"
#include "perf/bench/measure.h"
#include "perf/bench/one_rank.h"
#include "perf/bench/run_facts.h"
#include "perf/cli/options.h"
#include "perf/cli/progress_line.h"
#include "perf/cli/report_error.h"
#include "perf/cli/text_file.h"
#include "perf/launch/ranks_option.h"
#include "perf/step/step_check.h"
#include "perf/step/step_report.h"

namespace rondo::perf {
namespace {

constexpr int64_t kMaxParameters = int64_t{1} << 40;
constexpr int kMaxIterations = 100000000;
constexpr int64_t kCheckedSteps = 3;

constexpr char kExamples[] =
    "  rondo perf step --params 1Mi --ranks 2\n"
    "  rondo perf step --params 64Mi --ranks 2 --grad-type bfloat16 "
    "--param-type bfloat16\n"
    "  mpirun -np 4 rondo perf step --params 16Mi -J step.json\n\n"
    "A step is one plan: reduce-scatter of the gradients, AdamW on each rank's "
    "shard,\nall-gather of the parameters. Checked against AdamW in double, "
    "before and after.\n";

struct StepOptions {
  int local_ranks = 0;
  int64_t parameters = int64_t{1} << 20;
  DataType gradient_type = DataType::kFloat32;
  DataType parameter_type = DataType::kFloat32;
  int iterations = 20;
  int warmup_iterations = 2;
  bool check = true;
  std::string json_path;
};

// The epsilon is large on purpose: a tiny one makes the quotient of two moments
// near zero a coin toss in any fp32 arithmetic, and its bound useless. It takes
// the same time.
AdamWHyper Hyper() {
  return {.learning_rate = 0.01, .epsilon = 0.1, .weight_decay = 0.1};
}

// One rank's buffers and optimizer.
class StepBenchmark {
 public:
  StepBenchmark(const StepOptions& options, Communicator* communicator)
      : options_(options),
        communicator_(communicator),
        speaks_(communicator->rank() == 0),
        progress_(speaks_) {}

  Status Run(const Invocation& invocation) {
    const Status writable =
        speaks_ ? CheckWritable(options_.json_path) : Status::Ok();
    RONDO_RETURN_IF_ERROR(Agree(communicator_, writable));
    RONDO_RETURN_IF_ERROR(Agree(communicator_, Allocate()));
    RONDO_RETURN_IF_ERROR(Describe(invocation));
    RONDO_RETURN_IF_ERROR(Check(/*seed=*/1));
    RONDO_RETURN_IF_ERROR(Time(/*seed=*/2));
    RONDO_RETURN_IF_ERROR(Check(/*seed=*/3));
    if (options_.check) {
      RONDO_ASSIGN_OR_RETURN(run_.wrong, SumOverRanks(communicator_, wrong_));
    }
    run_.end_time = NowText();
    progress_.Clear();
    if (!speaks_) return Status::Ok();
    fmt::print("{}", StepText(run_));
    std::fflush(stdout);
    return WriteTextFile(options_.json_path, StepJson(run_));
  }

  bool right() const { return run_.wrong.value_or(0) == 0; }

 private:
  size_t count() const { return static_cast<size_t>(options_.parameters); }

  Status Allocate() {
    const size_t gradient_bytes = count() * ElementSize(options_.gradient_type);
    const size_t parameter_bytes =
        count() * ElementSize(options_.parameter_type);
    gradients_.reset(new (std::nothrow) char[gradient_bytes]);
    parameters_.reset(new (std::nothrow) char[parameter_bytes]);
    initial_.reset(new (std::nothrow) float[count()]);
    if (gradients_ && parameters_ && initial_) return Status::Ok();
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for {} parameters", count()));
  }

  Status Describe(const Invocation& invocation) {
    run_.start_time = NowText();
    run_.arguments = CommandWords(invocation);
    run_.environment = SteeringVariables(invocation.environment);
    run_.transport = communicator_->Describe();
    run_.parameters = options_.parameters;
    run_.gradient_type = DataTypeName(options_.gradient_type);
    run_.parameter_type = DataTypeName(options_.parameter_type);
    run_.gradient_bytes =
        static_cast<int64_t>(ElementSize(options_.gradient_type));
    run_.parameter_bytes =
        static_cast<int64_t>(ElementSize(options_.parameter_type));
    run_.iterations = options_.iterations;
    run_.warmup_iterations = options_.warmup_iterations;
    RONDO_ASSIGN_OR_RETURN(run_.ranks, GatherRankFacts(communicator_));
    return Status::Ok();
  }

  Result<std::unique_ptr<ShardedAdamW>> MakeOptimizer(uint64_t seed) {
    for (size_t i = 0; i < count(); ++i) initial_[i] = TestInitial(seed, i);
    ShardedAdamWOptions options;
    options.parameters = {{"parameters", count()}};
    options.hyper = Hyper();
    options.gradient_type = options_.gradient_type;
    options.parameter_type = options_.parameter_type;
    return ShardedAdamW::Create(communicator_, options, initial_.get());
  }

  // A fresh optimizer makes a few steps, and every parameter is compared.
  Status Check(uint64_t seed) {
    if (!options_.check) return Status::Ok();
    progress_.Show("step: checking");
    RONDO_ASSIGN_OR_RETURN(const auto optimizer, MakeOptimizer(seed));
    for (int64_t step = 1; step <= kCheckedSteps; ++step) {
      FillGradients(options_.gradient_type, seed, step, communicator_->rank(),
                    gradients_.get(), count());
      RONDO_RETURN_IF_ERROR(
          optimizer->Step(gradients_.get(), parameters_.get()));
    }
    StepCheck check;
    check.seed = seed;
    check.steps = kCheckedSteps;
    check.ranks = communicator_->world_size();
    check.count = count();
    check.gradient_type = options_.gradient_type;
    check.parameter_type = options_.parameter_type;
    check.hyper = Hyper();
    wrong_ += CountOutside(check, parameters_.get());
    return Status::Ok();
  }

  Status Time(uint64_t seed) {
    RONDO_ASSIGN_OR_RETURN(const auto optimizer, MakeOptimizer(seed));
    FillGradients(options_.gradient_type, seed, 1, communicator_->rank(),
                  gradients_.get(), count());
    const OptimizerBytes bytes = optimizer->bytes();
    run_.state_bytes = static_cast<int64_t>(bytes.master + bytes.first_moment +
                                            bytes.second_moment);
    progress_.Show("step: timing");
    RONDO_ASSIGN_OR_RETURN(
        const std::vector<int64_t> durations_ns,
        TimeIterations(communicator_, options_.warmup_iterations,
                       options_.iterations, [&] {
                         return optimizer->Step(gradients_.get(),
                                                parameters_.get());
                       }));
    RONDO_ASSIGN_OR_RETURN(run_.times,
                           SlowestRank(communicator_, Summarize(durations_ns)));
    return Status::Ok();
  }

  const StepOptions& options_;
  Communicator* communicator_;
  bool speaks_;
  ProgressLine progress_;
  std::unique_ptr<char[]> gradients_;
  std::unique_ptr<char[]> parameters_;
  std::unique_ptr<float[]> initial_;
  int64_t wrong_ = 0;
  StepRun run_;
};

Result<bool> RunBenchmark(const StepOptions& options,
                          const Invocation& invocation,
                          Communicator* communicator) {
  StepBenchmark benchmark(options, communicator);
  RONDO_RETURN_IF_ERROR(benchmark.Run(invocation));
  return benchmark.right();
}

void AddType(CLI::App* app, const std::string& name, DataType* type) {
  AddParsedOption(app, name, "float, bfloat16 or half", "TYPE", type,
                  ParseTrainingType)
      ->default_str("float");
}

void AddOptions(CLI::App* app, StepOptions* options) {
  AddRanksOption(app, &options->local_ranks);
  AddSizeOption(app, "--params", "parameters of the model, all ranks together",
                &options->parameters)
      ->default_str("1Mi");
  AddType(app, "--grad-type", &options->gradient_type);
  AddType(app, "--param-type", &options->parameter_type);
  AddNumberOption(app, "-n,--iters", "timed steps", 1, kMaxIterations,
                  &options->iterations);
  AddNumberOption(app, "-w,--warmup_iters", "steps before timing", 0,
                  kMaxIterations, &options->warmup_iterations);
  AddSwitchOption(app, "-c,--check", "check every parameter: 0 or 1",
                  &options->check);
  app->add_option("-J,--json", options->json_path, "write the result as JSON")
      ->type_name("FILE");
}

Status Finish(const StepOptions& options) {
  if (options.parameters > kMaxParameters) {
    return InvalidArgument(
        fmt::format("--params {} is refused; accepted is 1 to {}",
                    options.parameters, kMaxParameters));
  }
  if (options.local_ranks == 0) return Status::Ok();
  return CheckWritable(options.json_path).WithContext("--json");
}

}  // namespace

void AddStepCommand(CLI::App* perf_group, Commands* commands) {
  auto options = std::make_shared<StepOptions>();
  CLI::App* app = commands->Add(
      perf_group, "step", "measure and check the sharded optimizer step",
      kExamples, [options](const Invocation& invocation) {
        const Status status = Finish(*options);
        if (!status.ok()) {
          ReportError(status);
          return static_cast<int>(kExitUsage);
        }
        return RunAsRanks(invocation, options->local_ranks, [&] {
          return RunOneRank([&](Communicator* communicator) {
            return RunBenchmark(*options, invocation, communicator);
          });
        });
      });
  AddOptions(app, options.get());
}

}  // namespace rondo::perf
