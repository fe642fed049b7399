// vs_openmpi and vs_mpich: Rondo against an MPI library, in one run.
#include <unistd.h>

#include <string>
#include <vector>

#include "fmt/format.h"
#include "perf/cli/exit_status.h"
#include "perf/cli/report_error.h"
#include "perf/cli/text_file.h"
#include "perf/compare_mpi/launch.h"
#include "perf/compare_mpi/mpi_library.h"
#include "perf/compare_mpi/options.h"
#include "perf/compare_mpi/rank.h"
#include "transports/base/environment.h"
#include "transports/base/parameters.h"

// Under a sanitizer: MPI libraries keep memory that they never free, of
// plug-ins that are unloaded by then and cannot be named, and none of them is
// instrumented.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
extern "C" const char* __tsan_default_options() {
  return "ignore_noninstrumented_modules=1";
}

namespace rondo::perf {
namespace {

Status EnterCallersDirectory(const EnvironmentReader& environment) {
  // `bazel run` starts programs elsewhere; FILE is meant where it was typed.
  const auto directory = environment.Get("BUILD_WORKING_DIRECTORY");
  if (!directory || chdir(directory->c_str()) == 0) return Status::Ok();
  return InvalidUsage(
      fmt::format("cannot enter BUILD_WORKING_DIRECTORY \"{}\"", *directory));
}

// What every rank would refuse is refused here, once.
Status CheckBeforeLaunch(const CompareOptions& options,
                         const EnvironmentReader& environment) {
  RONDO_RETURN_IF_ERROR(CheckWritable(options.json_path).WithContext("--json"));
  RONDO_RETURN_IF_ERROR(CheckWritable(options.svg_path).WithContext("--svg"));
  return Parameters::Load(environment).status();
}

int Run(const std::vector<std::string>& words, CLI::App* app,
        const CompareOptions& options) {
  const MpiFlavor flavor = MpiLibrary::Flavor();
  const std::vector<std::string> arguments(words.begin() + 1, words.end());
  try {
    // CLI11 reads its vector from the back.
    app->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      return app->exit(error);  // --help: prints to stdout
    }
    fmt::print(stderr, "rondo: {}\nSee `{} --help`.\n", error.what(),
               ProgramName(flavor));
    return kExitUsage;
  }
  const EnvironmentReader environment = EnvironmentReader::FromProcess();
  Status status = FinishCompareOptions(options);
  if (status.ok() && !MpiLibrary::Built()) {
    status = InvalidUsage(fmt::format(
        "{} was built without {}, so it has nothing to compare with; install "
        "its development package (third_party/debian_packages.txt) and build "
        "again",
        ProgramName(flavor), FlavorName(flavor)));
  }
  if (status.ok()) status = EnterCallersDirectory(environment);
  if (!status.ok()) return ReportError(status);
  if (IsRank(flavor, options, environment)) {
    return RunComparisonRank(options, WithoutRankMark(words), environment);
  }
  status = CheckBeforeLaunch(options, environment);
  if (!status.ok()) return ReportError(status);
  return ReportError(BecomeLauncher(flavor, options, arguments));
}

}  // namespace
}  // namespace rondo::perf

int main(int argc, char** argv) {
  using rondo::perf::MpiLibrary;
  std::vector<std::string> words(argv, argv + argc);
  const std::string name(rondo::perf::ProgramName(MpiLibrary::Flavor()));
  words[0] = name;
  rondo::perf::CompareOptions options;
  CLI::App app("Compares Rondo with an MPI library in the same processes.",
               name);
  app.require_subcommand(0, 1);
  rondo::perf::AddCompareOptions(&app, &options);
  app.footer(rondo::perf::CompareExamples(MpiLibrary::Flavor()));
  return rondo::perf::Run(words, &app, options);
}
