#include "perf/compare_mpi/step_comparison.h"

#include <cstdio>
#include <memory>

#include "fmt/format.h"
#include "perf/bench/gather.h"
#include "perf/bench/run_facts.h"
#include "perf/cli/progress_line.h"
#include "perf/cli/text_file.h"
#include "perf/compare_mpi/mpi_step.h"
#include "perf/step/step_benchmark.h"
#include "perf/step/step_report.h"

namespace rondo::perf {
namespace {

Result<StepRun> Describe(const std::vector<std::string>& words,
                         const EnvironmentReader& environment,
                         Communicator* communicator, const MpiLibrary& mpi) {
  StepRun run;
  run.program = fmt::format("{} step", ProgramName(MpiLibrary::Flavor()));
  run.start_time = NowText();
  run.arguments = words;
  run.environment = SteeringVariables(environment);
  run.transport = communicator->Describe();
  run.mpi_name = FlavorName(MpiLibrary::Flavor());
  run.mpi_version = mpi.VersionText();
  RONDO_ASSIGN_OR_RETURN(run.ranks, GatherRankFacts(communicator));
  return run;
}

Status AddMpiSteps(DataType gradient_type, MpiLibrary* mpi,
                   StepBenchmark* benchmark) {
  const char* const widened =
      gradient_type == DataType::kFloat32 ? "" : ", gradients widened to fp32";
  for (MpiReduce reduce :
       {MpiReduce::kReduceScatter, MpiReduce::kReduceScatterBlock}) {
    RONDO_ASSIGN_OR_RETURN(
        const StepCollectives collectives,
        MpiCollectives(mpi, benchmark->layout(), gradient_type, reduce));
    const char* const name = reduce == MpiReduce::kReduceScatter
                                 ? "MPI_Reduce_scatter"
                                 : "MPI_Reduce_scatter_block";
    benchmark->AddSeparateStep(kMpi, fmt::format("{}{}", name, widened),
                               /*clips=*/false, collectives);
  }
  return Status::Ok();
}

}  // namespace

Result<bool> RunStepComparison(const CompareOptions& options,
                               const std::vector<std::string>& words,
                               const EnvironmentReader& environment,
                               Communicator* communicator, MpiLibrary* mpi) {
  const bool speaks = communicator->rank() == 0;
  const Status writable =
      speaks ? CheckWritable(options.json_path).WithContext("--json")
             : Status::Ok();
  RONDO_RETURN_IF_ERROR(Agree(communicator, writable));
  RONDO_ASSIGN_OR_RETURN(StepRun run,
                         Describe(words, environment, communicator, *mpi));
  ProgressLine progress(speaks);
  progress.Show("step: preparing");
  RONDO_ASSIGN_OR_RETURN(
      const std::unique_ptr<StepBenchmark> benchmark,
      StepBenchmark::Create(options.step_options, communicator));
  RONDO_RETURN_IF_ERROR(
      AddMpiSteps(options.step_options.gradient_type, mpi, benchmark.get()));
  RONDO_RETURN_IF_ERROR(benchmark->Run(&progress, &run));
  run.end_time = NowText();
  if (speaks) {
    fmt::print("{}", StepText(run));
    std::fflush(stdout);
    RONDO_RETURN_IF_ERROR(WriteTextFile(options.json_path, StepJson(run)));
  }
  return run.wrong.value_or(0) == 0;
}

}  // namespace rondo::perf
