#include "perf/compare_mpi/options.h"

#include <algorithm>
#include <limits>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "perf/cli/exit_status.h"
#include "perf/cli/options.h"
#include "perf/launch/ranks_option.h"
#include "transports/base/size_text.h"

namespace rondo::perf {
namespace {

constexpr int kMaxAlternations = 1000;
// MPI counts elements with an int.
constexpr int64_t kMaxTotalBytes =
    std::numeric_limits<int>::max() * int64_t{sizeof(float)};

// "a,b" as values of one list, each as `parse` reads it, none twice.
template <typename T, typename Parse>
Result<std::vector<T>> ParseList(std::string_view text, Parse parse) {
  std::vector<T> values;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const Result<T> value = parse(text.substr(begin, end - begin));
    if (!value.ok()) return value.status();
    if (std::count(values.begin(), values.end(), *value) > 0) {
      return InvalidArgument(
          fmt::format("\"{}\" names the same thing twice", text));
    }
    values.push_back(*value);
    begin = end + 1;
  }
  return values;
}

Result<Collective> ParseCollective(std::string_view name) {
  for (Collective each : {Collective::kAllGather, Collective::kReduceScatter}) {
    if (CollectiveName(each) == name) return each;
  }
  return InvalidArgument(fmt::format(
      "\"{}\" is refused; accepted is all_gather, reduce_scatter", name));
}

Result<bool> ParsePlace(std::string_view name) {
  if (name == "out_of_place") return false;
  if (name == "in_place") return true;
  return InvalidArgument(fmt::format(
      "\"{}\" is refused; accepted is out_of_place, in_place", name));
}

template <typename T, typename Parse>
CLI::Option* AddListOption(CLI::App* app, const std::string& names,
                           const std::string& description,
                           std::vector<T>* values, Parse parse) {
  return AddParsedOption(
      app, names, description, "LIST", values,
      [parse](std::string_view text) { return ParseList<T>(text, parse); });
}

void AddSelection(CLI::App* app, CompareOptions* options) {
  AddListOption(app, "-c,--collective", "all_gather, reduce_scatter",
                &options->collectives, ParseCollective)
      ->default_str("all_gather,reduce_scatter");
  AddListOption(
      app, "--buffers",
      fmt::format("kinds of memory: {}", fmt::join(BufferKindNames(), ", ")),
      &options->buffers, ParseBufferKind)
      ->default_str("user,symmetric");
  AddListOption(app, "--place", "out_of_place, in_place", &options->in_place,
                ParsePlace)
      ->default_str("out_of_place,in_place");
}

constexpr const char* kSharedWithStep[] = {"--ranks", "--json", "--mpirun",
                                           "--as-rank"};

// The first option that was given of those that only the collectives have.
std::string OnlyOfCollectives(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const bool shared = std::ranges::count(kSharedWithStep, name) > 0;
    if (option->count() > 0 && !shared) return name;
  }
  return "";
}

void AddStep(CLI::App* app, CompareOptions* options) {
  CLI::App* step = app->add_subcommand(
      "step", "compare the optimizer step instead of the collectives");
  // --ranks and the like may stand behind it.
  step->fallthrough();
  AddStepOptions(step, &options->step_options);
  step->footer(fmt::format(
      "Also: --ranks, --json, --mpirun.\n\n"
      "Everything that `rondo perf step` measures, and in turn with it the "
      "same Adam\nbetween MPI's reduce-scatter into an fp32 shard and its "
      "all-gather of the\nparameters.\n\n{}",
      kExitStatusHelp));
  step->callback([app, options] {
    options->senseless_with_step = OnlyOfCollectives(*app);
    options->step = true;
  });
}

}  // namespace

void AddCompareOptions(CLI::App* app, CompareOptions* options) {
  AddNumberOption(app, "--ranks",
                  "processes to start on this host; under a launcher, how many "
                  "it must have started",
                  2, kMaxLocalRanks, &options->ranks)
      ->default_str("2");
  AddSizeOption(app, "-b,--minbytes", "smallest total size",
                &options->sweep.min_bytes)
      ->default_str("8");
  AddSizeOption(app, "-e,--maxbytes", "largest total size",
                &options->sweep.max_bytes)
      ->default_str("256Mi");
  AddSelection(app, options);
  AddNumberOption(app, "--alternations",
                  "how often Rondo and the MPI library take turns", 1,
                  kMaxAlternations, &options->alternations);
  AddNumberOption(app, "--rerun-alternations",
                  "the same for cells with a ratio below 0.9, which are "
                  "measured again; 0: they are not",
                  0, kMaxAlternations, &options->rerun_alternations);
  app->add_option("-J,--json", options->json_path, "write the results as JSON")
      ->type_name("FILE");
  app->add_option("--svg", options->svg_path, "plot bandwidth over size")
      ->type_name("FILE");
  app->add_option("--mpirun", options->launcher,
                  "the launcher to start the processes with")
      ->type_name("PROGRAM");
  app->add_flag("--as-rank", options->as_rank,
                "this process was started by the launcher, even if no variable "
                "says so");
  AddStep(app, options);
}

std::string CompareExamples(MpiFlavor flavor) {
  return fmt::format(
      "Examples:\n"
      "  {0} --ranks 2\n"
      "  {0} --ranks 4 -b 1Ki -e 64Mi -c reduce_scatter --place in_place\n"
      "  {0} --ranks 2 -e 1Mi -J result.json --svg result.svg\n"
      "  mpirun -np 2 {0} -b 64Mi\n"
      "  {0} step --params 64Mi --param-type bfloat16 --ranks 2\n\n"
      "Starts itself under the mpirun of {1} and lets Rondo and {1} take "
      "turns in the\nsame processes on the same buffers (fp32, sum). Sizes are "
      "totals and double, with\none odd number of elements between neighbours. "
      "A time is the mean of back-to-back\ncalls on the worst rank; the median "
      "over the alternations counts. For reduce-scatter\nthe better of "
      "MPI_Reduce_scatter and MPI_Reduce_scatter_block counts. Where the\n"
      "ratio is below 0.9, the cell is measured again, and that result "
      "counts.\n\n"
      "{2}",
      ProgramName(flavor), FlavorName(flavor), kExitStatusHelp);
}

Status FinishCompareOptions(const CompareOptions& options) {
  if (!options.senseless_with_step.empty()) {
    return InvalidArgument(fmt::format(
        "{} has no meaning with step; accepted are {} and those of step --help",
        options.senseless_with_step, fmt::join(kSharedWithStep, ", ")));
  }
  if (options.step) return FinishStepOptions(options.step_options);
  const SweepOptions& sweep = options.sweep;
  if (sweep.min_bytes > sweep.max_bytes) {
    return InvalidArgument(fmt::format(
        "--minbytes {} is refused: it is larger than --maxbytes, {}",
        FormatSize(sweep.min_bytes), FormatSize(sweep.max_bytes)));
  }
  if (sweep.max_bytes > kMaxTotalBytes) {
    return InvalidArgument(fmt::format(
        "--maxbytes {} is refused: MPI counts at most {} bytes of fp32",
        FormatSize(sweep.max_bytes), kMaxTotalBytes));
  }
  return Status::Ok();
}

}  // namespace rondo::perf
