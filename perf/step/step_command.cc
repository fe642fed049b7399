#include "perf/step/step_command.h"

#include <cstdio>
#include <memory>
#include <string>

#include "fmt/format.h"
#include "perf/bench/gather.h"
#include "perf/bench/one_rank.h"
#include "perf/bench/run_facts.h"
#include "perf/cli/progress_line.h"
#include "perf/cli/report_error.h"
#include "perf/cli/text_file.h"
#include "perf/launch/ranks_option.h"
#include "perf/step/step_benchmark.h"
#include "perf/step/step_options.h"
#include "perf/step/step_report.h"

namespace rondo::perf {
namespace {

constexpr char kExamples[] =
    "  rondo perf step --params 1Mi --ranks 2\n"
    "  rondo perf step --params 64Mi --ranks 2 --param-type bfloat16\n"
    "  rondo perf step --model gpt2 --ranks 2 --grad-type bfloat16 "
    "--param-type bfloat16\n"
    "  mpirun -np 4 rondo perf step --params 16Mi -J step.json\n\n"
    "Ways to make the same Adam step take turns: fused (gradients of all ranks "
    "are\nread, and parameters of all ranks written, in one pass over memory), "
    "unfused\n(reduce-scatter into fp32, Adam, all-gather), both also with "
    "clipping by the\nglobal norm, and the limit: a loop with the same loads "
    "and stores on private\nmemory, and no communication. All are compared "
    "with Adam in double, before and\nafter; of more than 4Mi parameters, a "
    "part is.\n";

struct StepCommandOptions {
  int local_ranks = 0;
  StepBenchmarkOptions benchmark;
  std::string json_path;
};

// One rank's part; false when a result was wrong.
Result<bool> RunBenchmark(const StepCommandOptions& options,
                          const Invocation& invocation,
                          Communicator* communicator) {
  const bool speaks = communicator->rank() == 0;
  const Status writable =
      speaks ? CheckWritable(options.json_path) : Status::Ok();
  RONDO_RETURN_IF_ERROR(Agree(communicator, writable));
  StepRun run;
  run.start_time = NowText();
  run.arguments = CommandWords(invocation);
  run.environment = SteeringVariables(invocation.environment);
  run.transport = communicator->Describe();
  RONDO_ASSIGN_OR_RETURN(run.ranks, GatherRankFacts(communicator));
  ProgressLine progress(speaks);
  progress.Show("step: preparing");
  RONDO_ASSIGN_OR_RETURN(
      const std::unique_ptr<StepBenchmark> benchmark,
      StepBenchmark::Create(options.benchmark, communicator));
  RONDO_RETURN_IF_ERROR(benchmark->Run(&progress, &run));
  run.end_time = NowText();
  if (speaks) {
    fmt::print("{}", StepText(run));
    std::fflush(stdout);
    RONDO_RETURN_IF_ERROR(WriteTextFile(options.json_path, StepJson(run)));
  }
  return run.wrong.value_or(0) == 0;
}

Status Finish(const StepCommandOptions& options) {
  RONDO_RETURN_IF_ERROR(FinishStepOptions(options.benchmark));
  if (options.local_ranks == 0) return Status::Ok();
  return CheckWritable(options.json_path).WithContext("--json");
}

}  // namespace

void AddStepCommand(CLI::App* perf_group, Commands* commands) {
  auto options = std::make_shared<StepCommandOptions>();
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
  AddRanksOption(app, &options->local_ranks);
  AddStepOptions(app, &options->benchmark);
  app->add_option("-J,--json", options->json_path, "write the result as JSON")
      ->type_name("FILE");
}

}  // namespace rondo::perf
