#include "perf/launch/ranks_option.h"

#include "fmt/format.h"
#include "perf/cli/options.h"
#include "perf/cli/report_error.h"
#include "perf/launch/local_ranks.h"
#include "transports/base/parameters.h"
#include "transports/bootstrap/launch.h"

namespace rondo::perf {
namespace {

constexpr std::string_view kOption = "--ranks";

Status RefuseUnderLauncher(const Invocation& invocation, int local_ranks) {
  const Result<LaunchInfo> launch = DetectLaunch(invocation.environment);
  if (launch.ok() && launch->launcher == Launcher::kAlone) return Status::Ok();
  // Variables that make no sense are a launcher's all the same.
  const std::string found =
      launch.ok() ? fmt::format(
                        "by the variables of {} this process is rank "
                        "{} of {}",
                        LauncherName(launch->launcher), launch->rank,
                        launch->world_size)
                  : launch.status().message();
  return InvalidUsage(fmt::format(
      "--ranks {} is refused under a launcher: {}; leave --ranks out, so that "
      "each started process is one rank",
      local_ranks, found));
}

int Launch(const Invocation& invocation, int local_ranks) {
  LocalRanks launch;
  launch.ranks = local_ranks;
  launch.program = "/proc/self/exe";
  launch.arguments = WithoutRanksOption(invocation.arguments);
  launch.arguments.insert(launch.arguments.begin(), "rondo");
  launch.environment = invocation.environment.variables();
  launch.report = [](const std::string& message) {
    fmt::print(stderr, "rondo: {}\n", message);
  };
  const Result<LocalOutcome> outcome = RunLocalRanks(launch);
  if (!outcome.ok()) return ReportError(outcome.status());
  return outcome->exit_status;
}

}  // namespace

CLI::Option* AddRanksOption(CLI::App* app, int* local_ranks) {
  return AddNumberOption(app, std::string(kOption),
                         "start this many processes on this host; without it, "
                         "this process is one rank of its launcher, or alone",
                         1, kMaxLocalRanks, local_ranks)
      ->default_str("");
}

int RunAsRanks(const Invocation& invocation, int local_ranks,
               const std::function<int()>& body) {
  if (local_ranks == 0) return body();
  Status refusal = RefuseUnderLauncher(invocation, local_ranks);
  // Settings that every rank would refuse are refused here, once.
  if (refusal.ok()) refusal = Parameters::Load(invocation.environment).status();
  if (!refusal.ok()) return ReportError(refusal);
  return Launch(invocation, local_ranks);
}

std::vector<std::string> WithoutRanksOption(
    const std::vector<std::string>& arguments) {
  std::vector<std::string> kept;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == kOption) {
      ++i;  // and its value
    } else if (arguments[i].rfind(fmt::format("{}=", kOption), 0) != 0) {
      kept.push_back(arguments[i]);
    }
  }
  return kept;
}

}  // namespace rondo::perf
