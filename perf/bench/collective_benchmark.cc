#include "perf/bench/collective_benchmark.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "collectives/kernels/test_data.h"
#include "fmt/format.h"
#include "perf/bench/baseline.h"
#include "perf/bench/buffer.h"
#include "perf/bench/collective_options.h"
#include "perf/bench/csv_report.h"
#include "perf/bench/gather.h"
#include "perf/bench/json_report.h"
#include "perf/bench/measure.h"
#include "perf/bench/one_rank.h"
#include "perf/bench/run_facts.h"
#include "perf/bench/table.h"
#include "perf/cli/exit_status.h"
#include "perf/cli/progress_line.h"
#include "perf/cli/report_error.h"
#include "perf/cli/text_file.h"
#include "perf/launch/ranks_option.h"
#include "transports/base/size_text.h"

namespace rondo::perf {
namespace {

// One rank's run through all sizes.
class CollectiveBenchmark {
 public:
  CollectiveBenchmark(const CollectiveOptions& options,
                      Communicator* communicator)
      : options_(options),
        communicator_(communicator),
        speaks_(communicator->rank() == 0),
        progress_(speaks_) {}

  Status Run(const Invocation& invocation) {
    RONDO_RETURN_IF_ERROR(Agree(communicator_, Check()));
    RONDO_RETURN_IF_ERROR(Describe(invocation));
    Print(PreambleText(run_) + HeaderText(options_.percentiles));
    for (DataType type : options_.types) {
      for (Reduction reduction : options_.reductions) {
        RONDO_RETURN_IF_ERROR(Sweep(type, reduction));
      }
    }
    run_.end_time = NowText();
    Print(SummaryText(run_));
    CompareWithBase();
    return Agree(communicator_, WriteReports());
  }

  bool right() const { return TotalWrong(run_) == 0; }
  // By --compare; rank 0 alone knows.
  bool slower() const { return slower_; }

 private:
  int ranks() const { return communicator_->world_size(); }

  // What could not be known before the ranks had met.
  Status Check() {
    if (options_.root >= ranks()) {
      return InvalidArgument(fmt::format(
          "--root {} is refused: accepted is 0 to {} in a world of {}",
          options_.root, ranks() - 1, ranks()));
    }
    if (options_.check && ranks() > kMaxTestRanks) {
      return InvalidArgument(
          fmt::format("--check 1 is refused with {} ranks: the test data is "
                      "exact for at most {}",
                      ranks(), kMaxTestRanks));
    }
    if (!speaks_) return Status::Ok();
    RONDO_RETURN_IF_ERROR(CheckWritable(options_.json_path));
    RONDO_RETURN_IF_ERROR(CheckWritable(options_.csv_path));
    return ReadBase().WithContext("--compare");
  }

  // Before anything is measured, and before -J may overwrite the file.
  Status ReadBase() {
    if (options_.compare_path.empty()) return Status::Ok();
    RONDO_ASSIGN_OR_RETURN(base_, LoadBaseline(options_.compare_path));
    RONDO_RETURN_IF_ERROR(base_->CheckSameCommand(
        CollectiveName(options_.collective), BufferKindName(options_.buffers)));
    return base_->CheckSameRanks(ranks());
  }

  void CompareWithBase() {
    if (!base_) return;
    const BaselineVerdict verdict =
        CompareWithBaseline(run_, *base_, options_.tolerance_pct);
    slower_ = verdict.slower() > 0;
    Print(VerdictText(verdict));
  }

  Status Describe(const Invocation& invocation) {
    run_.collective = CollectiveName(options_.collective);
    run_.start_time = NowText();
    run_.arguments = CommandWords(invocation);
    run_.environment = SteeringVariables(invocation.environment);
    run_.transport = communicator_->Describe();
    run_.hosts = communicator_->host_count();
    run_.sweep = options_.sweep;
    run_.iterations = options_.iterations;
    run_.warmup_iterations = options_.warmup_iterations;
    run_.check = options_.check;
    run_.buffers = options_.buffers;
    RONDO_ASSIGN_OR_RETURN(run_.ranks, GatherRankFacts(communicator_));
    return Status::Ok();
  }

  Status Sweep(DataType type, Reduction reduction) {
    const int blocks =
        options_.collective == Collective::kBroadcast ? 1 : ranks();
    for (size_t count :
         SweepCounts(options_.sweep, blocks, ElementSize(type))) {
      RONDO_RETURN_IF_ERROR(AddRow({options_.collective, type, reduction,
                                    options_.root, count, options_.buffers}));
    }
    return Status::Ok();
  }

  Status AddRow(const WorkloadSpec& spec) {
    Result<Workload> workload =
        Workload::Create(spec, communicator_->rank(), ranks());
    RONDO_RETURN_IF_ERROR(Agree(communicator_, workload.status()));
    ResultRow row;
    row.size = workload->total_bytes();
    row.count = spec.count;
    row.type = DataTypeName(spec.type);
    row.redop = spec.collective == Collective::kReduceScatter
                    ? ReductionName(spec.reduction)
                    : "none";
    row.root = spec.collective == Collective::kBroadcast ? spec.root : -1;
    RONDO_ASSIGN_OR_RETURN(row.out_of_place,
                           MeasureOne(row, false, &*workload));
    RONDO_ASSIGN_OR_RETURN(row.in_place, MeasureOne(row, true, &*workload));
    Print(RowText(row, options_.percentiles));
    run_.rows.push_back(row);
    return Status::Ok();
  }

  Result<Measurement> MeasureOne(const ResultRow& row, bool in_place,
                                 Workload* workload) {
    MeasureOptions options;
    options.warmup_iterations = options_.warmup_iterations;
    options.iterations = options_.iterations;
    options.check = options_.check;
    options.on_phase = [&](const char* phase) {
      progress_.Show(fmt::format("{} {} {} {}: {}", run_.collective, row.type,
                                 FormatSize(static_cast<int64_t>(row.size)),
                                 in_place ? "in place" : "out of place",
                                 phase));
    };
    // Never the same data twice, so that what a call left behind is not taken
    // for the result of a later one.
    seed_ += 2;
    return Measure(communicator_, options, in_place, seed_, workload);
  }

  Status WriteReports() const {
    if (!speaks_) return Status::Ok();
    RONDO_RETURN_IF_ERROR(WriteTextFile(options_.json_path, JsonReport(run_)));
    return WriteTextFile(options_.csv_path, CsvReport(run_));
  }

  void Print(const std::string& text) {
    if (!speaks_) return;
    progress_.Clear();
    fmt::print("{}", text);
    std::fflush(stdout);
  }

  const CollectiveOptions& options_;
  Communicator* communicator_;
  bool speaks_;
  ProgressLine progress_;
  uint64_t seed_ = 0;
  BenchmarkRun run_;
  std::optional<Baseline> base_;  // rank 0's, with --compare
  bool slower_ = false;
};

Result<bool> RunBenchmark(const CollectiveOptions& options,
                          const Invocation& invocation,
                          Communicator* communicator, bool* slower) {
  CollectiveBenchmark benchmark(options, communicator);
  RONDO_RETURN_IF_ERROR(benchmark.Run(invocation));
  *slower = benchmark.slower();
  return benchmark.right();
}

// One rank's exit status. Wrong elements weigh more than slow ones.
int RunRank(const CollectiveOptions& options, const Invocation& invocation) {
  bool slower = false;
  const int exit_status = RunOneRank([&](Communicator* communicator) {
    return RunBenchmark(options, invocation, communicator, &slower);
  });
  return exit_status == kExitOk && slower ? kExitSlower : exit_status;
}

std::string Examples(std::string_view name) {
  return fmt::format(
      "  rondo perf {0} --ranks 4 -b 8 -e 64M -f 4\n"
      "  rondo perf {0} --ranks 2 -b 1Mi -e 1Mi -d bfloat16 --percentiles\n"
      "  rondo perf {0} --ranks 4 -b 8 -e 1M -d all -J result.json\n"
      "  rondo perf {0} --ranks 4 -e 1M --compare base.json --tolerance 10\n"
      "  mpirun -np 4 rondo perf {0} -b 1M -e 16M\n"
      "  srun -n 16 rondo perf {0} -e 1Gi\n\n"
      "Sizes are totals: what an all-gather receives, what a reduce-scatter "
      "sends. 64M is\ndecimal, 64Mi binary. They are rounded down to whole "
      "elements for every rank.\nalgbw = size / time; busbw = algbw * (ranks - "
      "1) / ranks (broadcast: algbw).\n--compare: exit status 2 also where a "
      "size got slower by more than --tolerance percent.\n",
      name);
}

void AddCommand(CLI::App* perf_group, Collective collective,
                const std::string& description, Commands* commands) {
  auto options = std::make_shared<CollectiveOptions>();
  const std::string name(CollectiveName(collective));
  CLI::App* app = commands->Add(
      perf_group, name, description, Examples(name),
      [options](const Invocation& invocation) {
        const Status status = FinishCollectiveOptions(options.get());
        if (!status.ok()) {
          ReportError(status);
          return static_cast<int>(kExitUsage);
        }
        return RunAsRanks(invocation, options->local_ranks,
                          [&] { return RunRank(*options, invocation); });
      });
  AddCollectiveOptions(app, collective, options.get());
}

}  // namespace

void AddCollectiveCommands(CLI::App* perf_group, Commands* commands) {
  AddCommand(perf_group, Collective::kAllGather, "measure and check all-gather",
             commands);
  AddCommand(perf_group, Collective::kReduceScatter,
             "measure and check reduce-scatter", commands);
  AddCommand(perf_group, Collective::kBroadcast, "measure and check broadcast",
             commands);
}

}  // namespace rondo::perf
