#include "perf/info/info_command.h"

#include <memory>
#include <string>

#include "fmt/format.h"
#include "perf/cli/report_error.h"
#include "perf/cli/text_file.h"
#include "perf/info/info_report.h"
#include "transports/base/parameters.h"

namespace rondo::perf {
namespace {

constexpr char kExamples[] =
    "  rondo info\n"
    "  RONDO_TIMEOUT_MS=5000 rondo info | grep -A2 TIMEOUT\n"
    "  rondo info -J info.json\n"
    "  rondo info --markdown-parameters\n";

struct InfoOptions {
  std::string json_path;
  bool markdown_parameters = false;
};

Status Run(const InfoOptions& options, const EnvironmentReader& environment) {
  if (options.markdown_parameters) {
    fmt::print("{}", ParametersMarkdown(Parameters().Describe()));
    return Status::Ok();
  }
  RONDO_RETURN_IF_ERROR(CheckWritable(options.json_path).WithContext("--json"));
  RONDO_ASSIGN_OR_RETURN(const Parameters parameters,
                         Parameters::Load(environment));
  const InfoReport info = GatherInfo(parameters);
  fmt::print("{}", InfoText(info));
  return WriteTextFile(options.json_path, InfoJson(info));
}

}  // namespace

void AddInfoCommand(Commands* commands) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* app = commands->Add(
      nullptr, "info", "show version, build, UCX and every parameter",
      kExamples, [options](const Invocation& invocation) {
        const Status status = Run(*options, invocation.environment);
        return status.ok() ? static_cast<int>(kExitOk) : ReportError(status);
      });
  CLI::Option* json =
      app->add_option("-J,--json", options->json_path, "write it as JSON too")
          ->type_name("FILE");
  app->add_flag("--markdown-parameters", options->markdown_parameters,
                "print the table of parameters for README.md, and no more")
      ->excludes(json);
}

}  // namespace rondo::perf
