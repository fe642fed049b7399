#include "perf/bench/collective_options.h"

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "perf/bench/baseline.h"
#include "perf/cli/options.h"
#include "perf/cli/text_file.h"
#include "perf/launch/ranks_option.h"

namespace rondo::perf {
namespace {

constexpr int kMaxIterations = 100000000;
constexpr int kMaxRoot = 1 << 20;
constexpr int kMaxTolerancePct = 1000000;

// One name, or "all" of them.
template <typename T, typename Parse, typename All>
Result<std::vector<T>> OneOrAll(std::string_view text, Parse parse,
                                const All& all) {
  if (text == "all") return std::vector<T>(all.begin(), all.end());
  const Result<T> one = parse(text);
  if (!one.ok()) {
    return InvalidArgument(one.status().message() + "; or all of them: all");
  }
  return std::vector<T>{*one};
}

void AddSizes(CLI::App* app, SweepOptions* sweep) {
  AddSizeOption(app, "-b,--minbytes", "smallest total size", &sweep->min_bytes)
      ->default_str("32Mi");
  AddSizeOption(app, "-e,--maxbytes", "largest total size", &sweep->max_bytes)
      ->default_str("32Mi");
  CLI::Option* step = AddSizeOption(
      app, "-i,--stepbytes", "add this from size to size", &sweep->step_bytes);
  AddNumberOption(app, "-f,--stepfactor", "multiply by this from size to size",
                  2, 1 << 20, &sweep->factor)
      ->excludes(step);
}

void AddTypes(CLI::App* app, Collective collective,
              CollectiveOptions* options) {
  AddParsedOption(app, "-d,--datatype",
                  "int8, uint8, int32, uint32, int64, uint64, half, float, "
                  "double, bfloat16 or all",
                  "TYPE", &options->types,
                  [](std::string_view text) {
                    return OneOrAll<DataType>(text, ParseDataType,
                                              AllDataTypes());
                  })
      ->default_str("float");
  // nccl-tests takes -o for every collective; so that its command lines work
  // unchanged, it is checked here and has no meaning where nothing is reduced.
  const bool reduces = collective == Collective::kReduceScatter;
  AddParsedOption(app, "-o,--op",
                  std::string("sum, prod, min, max, avg or all") +
                      (reduces ? "" : " (nothing is reduced: no effect)"),
                  "OP", &options->reductions,
                  [](std::string_view text) {
                    return OneOrAll<Reduction>(text, ParseReduction,
                                               AllReductions());
                  })
      ->default_str("sum");
}

void AddReports(CLI::App* app, CollectiveOptions* options) {
  app->add_flag("--percentiles", options->percentiles,
                "add p50, p95 and p99 to the table");
  app->add_option("-J,--json", options->json_path, "write the results as JSON")
      ->type_name("FILE");
  app->add_option("--csv", options->csv_path, "write the results as CSV")
      ->type_name("FILE");
  CLI::Option* compare =
      app->add_option("--compare", options->compare_path,
                      "the -J file of an earlier run of this command; exit "
                      "status 2 where a size got slower")
          ->type_name("FILE");
  AddNumberOption(app, "--tolerance",
                  "by how many percent a time may grow with --compare", 0,
                  kMaxTolerancePct, &options->tolerance_pct)
      ->needs(compare);
}

Status CheckBaseline(const CollectiveOptions& options) {
  if (options.compare_path.empty()) return Status::Ok();
  RONDO_ASSIGN_OR_RETURN(const Baseline base,
                         LoadBaseline(options.compare_path));
  RONDO_RETURN_IF_ERROR(base.CheckSameCommand(
      CollectiveName(options.collective), BufferKindName(options.buffers)));
  return base.CheckSameRanks(options.local_ranks);
}

}  // namespace

void AddCollectiveOptions(CLI::App* app, Collective collective,
                          CollectiveOptions* options) {
  options->collective = collective;
  AddRanksOption(app, &options->local_ranks);
  AddSizes(app, &options->sweep);
  AddTypes(app, collective, options);
  if (collective == Collective::kBroadcast) {
    AddNumberOption(app, "-r,--root", "rank whose data is sent", 0, kMaxRoot,
                    &options->root);
  }
  AddNumberOption(app, "-n,--iters", "timed iterations", 1, kMaxIterations,
                  &options->iterations);
  AddNumberOption(app, "-w,--warmup_iters", "iterations before timing", 0,
                  kMaxIterations, &options->warmup_iterations);
  AddSwitchOption(app, "-c,--check", "check every element: 0 or 1",
                  &options->check);
  AddParsedOption(
      app, "--buffers",
      fmt::format("kind of memory: {}", fmt::join(BufferKindNames(), ", ")),
      "NAME", &options->buffers, ParseBufferKind)
      ->default_str(std::string(BufferKindName(options->buffers)));
  AddReports(app, options);
}

Status FinishCollectiveOptions(CollectiveOptions* options) {
  RONDO_RETURN_IF_ERROR(
      CompleteSweep(&options->sweep).WithContext("--minbytes and --maxbytes"));
  if (options->local_ranks > 0 && options->root >= options->local_ranks) {
    return InvalidArgument(fmt::format(
        "--root {} is refused: accepted is 0 to {} in a world of {}",
        options->root, options->local_ranks - 1, options->local_ranks));
  }
  // One pass where nothing is reduced.
  if (options->collective != Collective::kReduceScatter) {
    options->reductions = {Reduction::kSum};
  }
  if (options->local_ranks == 0) return Status::Ok();
  RONDO_RETURN_IF_ERROR(
      CheckWritable(options->json_path).WithContext("--json"));
  RONDO_RETURN_IF_ERROR(CheckWritable(options->csv_path).WithContext("--csv"));
  return CheckBaseline(*options).WithContext("--compare");
}

}  // namespace rondo::perf
