#include "perf/cli/command.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "perf/cli/version.h"

namespace rondo::perf {
namespace {

constexpr char kRootExamples[] =
    "Examples:\n"
    "  rondo perf all_gather --ranks 4 -b 1Ki -e 64Mi\n"
    "  mpirun -np 4 rondo perf reduce_scatter -d bfloat16\n"
    "  rondo plan all_gather --ranks 6\n"
    "  rondo train --ranks 4 --steps 200\n"
    "  rondo info\n\n";

std::string Footer(const std::string& examples) {
  return fmt::format("{}{}", examples, kExitStatusHelp);
}

// The innermost subcommand that was named: whose --help to point at.
const CLI::App* Innermost(const CLI::App* app) {
  for (;;) {
    const auto named = app->get_subcommands();
    if (named.empty()) return app;
    app = named.front();
  }
}

std::string FullName(const CLI::App* app) {
  if (app->get_parent() == nullptr) return app->get_name();
  return FullName(app->get_parent()) + " " + app->get_name();
}

// Why `app` could not be parsed, with what it accepts where a command is
// missing.
std::string Explain(const CLI::App* app, const CLI::ParseError& error) {
  if (app->get_require_subcommand_min() == 0) return error.what();
  std::vector<std::string> names;
  for (const CLI::App* each :
       app->get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(each->get_name());
  }
  const std::vector<std::string> unknown = app->remaining();
  const std::string found = unknown.empty()
                                ? "a command is missing"
                                : fmt::format("\"{}\" is no command of `{}`",
                                              unknown.front(), FullName(app));
  return fmt::format("{}; accepted is {}", found, fmt::join(names, ", "));
}

}  // namespace

Commands::Commands()
    : root_("Collective communication over UCX: run, measure, explain.",
            "rondo") {
  root_.require_subcommand(1);
  root_.set_version_flag("--version", std::string("rondo ") + VersionText());
  root_.footer(Footer(kRootExamples));
}

CLI::App* Commands::AddGroup(const std::string& name,
                             const std::string& description) {
  CLI::App* group = root_.add_subcommand(name, description);
  group->require_subcommand(1);
  group->footer(
      Footer(fmt::format("See `rondo {} COMMAND --help`.\n\n", name)));
  return group;
}

CLI::App* Commands::Add(CLI::App* parent, const std::string& name,
                        const std::string& description,
                        const std::string& examples, Body body) {
  CLI::App* app =
      (parent == nullptr ? &root_ : parent)->add_subcommand(name, description);
  app->footer(Footer("Examples:\n" + examples + "\n"));
  entries_.push_back({app, std::move(body)});
  return app;
}

int Commands::Run(const Invocation& invocation) {
  // CLI11 reads its vector from the back.
  std::vector<std::string> reversed(invocation.arguments.rbegin(),
                                    invocation.arguments.rend());
  try {
    root_.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    return Refuse(error);
  }
  for (const Entry& entry : entries_) {
    if (entry.app->parsed()) return entry.body(invocation);
  }
  return kExitUsage;
}

int Commands::Refuse(const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    root_.exit(error);  // --help, --version: prints to stdout
    return kExitOk;
  }
  const CLI::App* app = Innermost(&root_);
  fmt::print(stderr, "rondo: {}\nSee `{} --help`.\n", Explain(app, error),
             FullName(app));
  return kExitUsage;
}

}  // namespace rondo::perf
