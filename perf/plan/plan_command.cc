#include "perf/plan/plan_command.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "collectives/plan/printer.h"
#include "collectives/plan/verifier.h"
#include "fmt/format.h"
#include "perf/bench/one_rank.h"
#include "perf/cli/exit_status.h"
#include "perf/cli/options.h"
#include "perf/cli/report_error.h"
#include "perf/cli/text_file.h"
#include "perf/launch/ranks_option.h"
#include "perf/plan/explain.h"
#include "perf/plan/plan_choice.h"

namespace rondo::perf {
namespace {

constexpr int kMaxRanks = 65536;
// Text shows every rank up to so many, and of more only the first few.
constexpr int kMaxShownRanks = 16;
constexpr int kFirstRanks = 3;
// JSON and traces hold every step; beyond this they would be gigabytes.
constexpr int kMaxCompleteRanks = 512;

constexpr char kExamples[] =
    "  rondo plan all_gather --ranks 6\n"
    "  rondo plan sharded_step --ranks 4 --rank 0\n"
    "  rondo plan broadcast --ranks 5 --root 2 --format json\n"
    "  rondo plan reduce_scatter --ranks 8 --format trace > plan.json\n"
    "  rondo plan barrier --ranks 65536 --rank 77\n"
    "  rondo plan all_gather --ranks 2 --explain --bytes 64Ki\n\n"
    "A trace opens in chrome://tracing or ui.perfetto.dev: a row per rank, a "
    "tick per\nlevel of dependency.\n";

struct PlanOptions {
  PlanChoice choice = {.ranks = 0};  // 0: not given
  int rank = -1;                     // -1: all of them
  std::string format = "text";
  bool all = false;
  std::string json_path;
  bool explain = false;
  int64_t bytes = int64_t{1} << 20;
};

Status CheckOptions(const PlanOptions& options) {
  const int ranks = options.choice.ranks;
  if (ranks == 0) {
    return InvalidArgument(
        "--ranks is missing; accepted is a number of ranks from 1 on");
  }
  if (options.rank >= ranks) {
    return InvalidArgument(fmt::format(
        "--rank {} is refused: with --ranks {}, accepted is 0 to {}",
        options.rank, ranks, ranks - 1));
  }
  if (options.rank >= 0 && (options.all || options.format == "trace")) {
    return InvalidArgument(fmt::format(
        "--rank {} is refused with --all and with --format trace: they show "
        "all ranks",
        options.rank));
  }
  const bool complete =
      options.all || options.format != "text" || !options.json_path.empty();
  if (complete && options.rank < 0 && ranks > kMaxCompleteRanks) {
    return InvalidArgument(fmt::format(
        "--ranks {} is refused for every step of every rank: accepted is 1 to "
        "{}, or choose one with --rank",
        ranks, kMaxCompleteRanks));
  }
  return CheckWritable(options.json_path).WithContext("--json");
}

std::vector<int> ShownRanks(const PlanOptions& options) {
  if (options.rank >= 0) return {options.rank};
  const int ranks = options.choice.ranks;
  const bool everything = options.all || ranks <= kMaxShownRanks;
  std::vector<int> shown(everything ? ranks : kFirstRanks);
  std::iota(shown.begin(), shown.end(), 0);
  return shown;
}

std::string Json(const PlanOptions& options, const Shape& shape,
                 const PlanFacts* facts) {
  return options.rank >= 0 ? RankOfShapeToJson(shape, facts, options.rank)
                           : ShapeToJson(shape, facts);
}

std::string Output(const PlanOptions& options, const Shape& shape,
                   const PlanFacts* facts) {
  if (options.format == "json") return Json(options, shape, facts);
  if (options.format == "trace") return ShapeToChromeTrace(shape);
  const int links = options.all ? shape.ranks : kMaxShownRanks;
  return PartOfShapeToText(shape, facts, ShownRanks(options), links);
}

Status Run(const PlanOptions& options) {
  RONDO_RETURN_IF_ERROR(CheckOptions(options));
  RONDO_ASSIGN_OR_RETURN(const Shape shape, MakeShape(options.choice));
  std::optional<PlanFacts> facts;
  if (shape.ranks <= kMaxProvedRanks) {
    Result<PlanFacts> proof = VerifyShape(shape);
    if (!proof.ok()) {
      // Whatever its code: the plan is at fault, not what was typed.
      return Status(Code::kInternal,
                    "the plan is wrong: " + proof.status().message());
    }
    facts = std::move(*proof);
  } else {
    fmt::print(stderr,
               "rondo: not verified: a proof is made for at most {} ranks\n",
               kMaxProvedRanks);
  }
  const PlanFacts* proved = facts ? &*facts : nullptr;
  fmt::print("{}", Output(options, shape, proved));
  if (options.json_path.empty()) return Status::Ok();
  return WriteTextFile(options.json_path, Json(options, shape, proved));
}

// Starts real ranks: what a way costs is a matter of this machine.
int RunExplain(const Invocation& invocation, const PlanOptions& options) {
  const std::string& name = options.choice.collective;
  if (name != "all_gather" && name != "reduce_scatter") {
    return ReportError(InvalidArgument(
        "--explain is refused for " + name +
        "; accepted are all_gather and reduce_scatter, which have a choice"));
  }
  if (options.choice.ranks > kMaxLocalRanks) {
    return ReportError(InvalidArgument(
        fmt::format("--ranks {} is refused with --explain, which starts them: "
                    "accepted is 2 to {}",
                    options.choice.ranks, kMaxLocalRanks)));
  }
  const Collective collective = name == "all_gather"
                                    ? Collective::kAllGather
                                    : Collective::kReduceScatter;
  return RunAsRanks(invocation, options.choice.ranks, [&] {
    return RunOneRank([&](Communicator* communicator) -> Result<bool> {
      RONDO_RETURN_IF_ERROR(Explain(communicator, collective, options.bytes));
      return true;
    });
  });
}

void AddOptions(CLI::App* app, PlanOptions* options) {
  AddChoiceOption(app, "collective", "what to plan", PlannableCollectives(),
                  &options->choice.collective)
      ->required()
      ->default_str("");
  AddNumberOption(app, "--ranks", "number of ranks", 1, kMaxRanks,
                  &options->choice.ranks)
      ->default_str("");
  app->add_option("--algorithm", options->choice.algorithm,
                  "ring or direct (all_gather, reduce_scatter, sharded_step), "
                  "push (all_gather), chain (broadcast), dissemination "
                  "(barrier)")
      ->type_name("NAME");
  AddNumberOption(app, "--root", "rank that a broadcast starts from", 0,
                  kMaxRanks, &options->choice.root);
  AddNumberOption(app, "--rank", "show this rank's program only", 0, kMaxRanks,
                  &options->rank)
      ->default_str("");
  AddChoiceOption(app, "--format", "text, json or trace",
                  {"text", "json", "trace"}, &options->format);
  app->add_flag("--all", options->all,
                fmt::format("show all ranks also if there are more than {}",
                            kMaxShownRanks));
  app->add_flag("--explain", options->explain,
                "start the ranks on this host, and show which way data moves "
                "and what each way costs");
  AddSizeOption(app, "--bytes", "with --explain: total size of the call",
                &options->bytes)
      ->default_str("1Mi");
  app->add_option("-J,--json", options->json_path,
                  "write the plan as JSON as well")
      ->type_name("FILE");
}

}  // namespace

void AddPlanCommand(Commands* commands) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* app = commands->Add(
      nullptr, "plan", "print the plan of a collective, after proving it",
      kExamples, [options](const Invocation& invocation) {
        if (options->explain) return RunExplain(invocation, *options);
        const Status status = Run(*options);
        return status.ok() ? static_cast<int>(kExitOk) : ReportError(status);
      });
  AddOptions(app, options.get());
}

}  // namespace rondo::perf
