#include "perf/plugin_check/plugin_check_command.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "fmt/format.h"
#include "perf/cli/options.h"
#include "perf/cli/progress_line.h"
#include "perf/cli/report_error.h"
#include "perf/cli/text_file.h"
#include "plugin/check/conformance.h"

namespace rondo::perf {
namespace {

using plugin::ConformanceOptions;
using plugin::ConformanceRow;
using plugin::Outcome;

constexpr char kExamples[] =
    "  rondo plugin-check ./libnccl-net-rondo.so --env RONDO_NET_DEVICES=lo\n"
    "  rondo plugin-check libnccl-net.so --version 11 -J report.json\n"
    "  rondo plugin-check libnccl-net.so --check sizes --check reload\n"
    "  rondo plugin-check --list\n\n"
    "Any net plugin is loaded as NCCL loads it, and every version that it "
    "exports is\ndriven as NCCL drives it: across processes and inside one, on "
    "host memory. Each\ncheck runs in a process of its own, so a crash or a "
    "hang is one finding.\n";

struct PluginCheckOptions {
  ConformanceOptions conformance;
  bool list = false;
  std::string json_path;
};

Result<bool> Run(const PluginCheckOptions& options) {
  if (options.list) {
    fmt::print("{}", plugin::ChecksText());
    return true;
  }
  if (options.conformance.path.empty()) {
    return InvalidArgument("which plugin? Give a path or a library's name");
  }
  RONDO_RETURN_IF_ERROR(CheckWritable(options.json_path).WithContext("--json"));
  ProgressLine progress(true);
  RONDO_ASSIGN_OR_RETURN(
      const auto rows,
      plugin::RunConformance(
          options.conformance, [&](const ConformanceRow& row) {
            progress.Show(fmt::format("v{} {}", row.version, row.check));
          }));
  progress.Show("");
  fmt::print("{}", plugin::ConformanceText(rows));
  std::fflush(stdout);
  RONDO_RETURN_IF_ERROR(
      WriteTextFile(options.json_path, plugin::ConformanceJson(rows)));
  return std::none_of(rows.begin(), rows.end(), [](const auto& row) {
    return row.outcome == Outcome::kFailed;
  });
}

int RunCommand(const PluginCheckOptions& options) {
  const Result<bool> passed = Run(options);
  if (!passed.ok()) {
    ReportError(passed.status());
    return kExitUsage;
  }
  return *passed ? kExitOk : kExitFailed;
}

}  // namespace

void AddPluginCheckCommand(Commands* commands) {
  auto options = std::make_shared<PluginCheckOptions>();
  CLI::App* app = commands->Add(
      nullptr, "plugin-check", "check that a net plugin does what NCCL needs",
      kExamples, [options](const Invocation&) { return RunCommand(*options); });
  ConformanceOptions* conformance = &options->conformance;
  app->add_option("PATH", conformance->path, "the plugin, as dlopen finds it");
  app->add_flag("--list", options->list, "say what is checked, and why");
  app->add_option("--check", conformance->checks, "only this check")
      ->type_name("NAME");
  AddNumberOption(app, "--version", "only this version of the table", 8, 12,
                  &conformance->version);
  AddNumberOption(app, "--device", "index of the device", 0, 127,
                  &conformance->device);
  app->add_option("--env", conformance->environment,
                  "set a variable for the plugin")
      ->type_name("NAME=VALUE");
  app->add_option("--failing-env", conformance->failing_environment,
                  "a variable that makes init() fail; known of Rondo's own")
      ->type_name("NAME=VALUE");
  AddNumberOption(app, "--timeout-s", "seconds that one check may take", 1,
                  86400, &conformance->timeout_s);
  app->add_option("-J,--json", options->json_path, "write the report as JSON")
      ->type_name("FILE");
}

}  // namespace rondo::perf
