#include "plugin/check/conformance.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "transports/base/clock.h"

namespace rondo::plugin {
namespace {

// What a process of a check writes into its pipe: an outcome, then text.
std::string Finding(const Status& status) {
  if (status.ok()) return "+";
  if (status.code() == Code::kNotSupported) return "~" + status.message();
  std::string text = "-" + status.message();
  for (const std::string& warning : TakeWarnings()) {
    text += "\n  the plugin warned: " + warning;
  }
  return text;
}

Status RunGuarded(const Check& check, const CheckSetup& setup) {
  try {
    return check.run(setup);
  } catch (const std::exception& error) {
    return Internal(std::string("an exception left the plugin: ") +
                    error.what());
  }
}

// In the process of the check; never returns.
[[noreturn]] void RunHere(const Check& check, const CheckSetup& setup,
                          const std::vector<std::string>& environment,
                          int out) {
  // The whole group ends with it, peers included.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const std::string& setting : environment) {
    const size_t equals = setting.find('=');
    setenv(setting.substr(0, equals).c_str(),
           setting.c_str() + std::min(equals + 1, setting.size()), 1);
  }
  const std::string text = Finding(RunGuarded(check, setup));
  (void)!write(out, text.data(), text.size());
  close(out);
  _exit(0);
}

// What comes through the pipe until it closes; false at the deadline.
bool ReadAll(int in, Deadline deadline, std::string* text) {
  char buffer[4096];
  while (true) {
    pollfd ready{in, POLLIN, 0};
    const int events = poll(&ready, 1, deadline.remaining_ms());
    if (events < 0 && errno == EINTR) continue;
    if (events <= 0) return false;
    const ssize_t got = read(in, buffer, sizeof(buffer));
    if (got <= 0) return true;
    text->append(buffer, static_cast<size_t>(got));
  }
}

ConformanceRow RowOf(int version, const Check& check, const std::string& text,
                     bool in_time, int how, int timeout_s) {
  ConformanceRow row{version, check.name, Outcome::kFailed, ""};
  if (!text.empty()) {
    row.outcome = text[0] == '+'   ? Outcome::kPassed
                  : text[0] == '~' ? Outcome::kSkipped
                                   : Outcome::kFailed;
    row.detail = text.substr(1);
    return row;
  }
  if (!in_time) {
    row.detail = fmt::format("hung: no result after {} s", timeout_s);
  } else if (WIFSIGNALED(how)) {
    row.detail = fmt::format("crashed: signal {} ({})", WTERMSIG(how),
                             strsignal(WTERMSIG(how)));
  } else {
    row.detail = fmt::format("the process ended with status {} in the middle",
                             WEXITSTATUS(how));
  }
  return row;
}

Result<ConformanceRow> RunOne(const Check& check, const CheckSetup& setup,
                              const ConformanceOptions& options) {
  int ends[2];
  if (pipe(ends) != 0) return SystemError("pipe", errno);
  const pid_t process = fork();
  if (process < 0) return SystemError("fork", errno);
  if (process == 0) {
    close(ends[0]);
    RunHere(check, setup, options.environment, ends[1]);
  }
  close(ends[1]);
  std::string text;
  const bool in_time =
      ReadAll(ends[0], Deadline::AfterMs(options.timeout_s * 1000), &text);
  close(ends[0]);
  // Also peers that a crashed check left behind.
  kill(-process, SIGKILL);
  kill(process, SIGKILL);
  int how = 0;
  waitpid(process, &how, 0);
  return RowOf(setup.version, check, text, in_time, how, options.timeout_s);
}

// Which versions it exports, found in a process of its own.
Result<std::vector<int>> VersionsOf(const ConformanceOptions& options) {
  int ends[2];
  if (pipe(ends) != 0) return SystemError("pipe", errno);
  const pid_t process = fork();
  if (process < 0) return SystemError("fork", errno);
  if (process == 0) {
    auto plugin = LoadedPlugin::Open(options.path);
    std::string text = plugin.ok() ? "+" : "-" + plugin.status().message();
    if (plugin.ok()) {
      for (const int version : (*plugin)->versions()) {
        text += static_cast<char>(version);
      }
    }
    (void)!write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  ReadAll(ends[0], Deadline::AfterMs(options.timeout_s * 1000), &text);
  close(ends[0]);
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  if (text.empty()) {
    return InvalidArgument("loading \"" + options.path + "\" crashed or hung");
  }
  if (text[0] == '-') return InvalidArgument(text.substr(1));
  std::vector<int> versions(text.begin() + 1, text.end());
  if (options.version == 0) return versions;
  for (const int version : versions) {
    if (version == options.version) return std::vector<int>{version};
  }
  return InvalidArgument(fmt::format("\"{}\" does not export version {}",
                                     options.path, options.version));
}

Result<std::vector<Check>> Chosen(const std::vector<std::string>& names) {
  if (names.empty()) return AllChecks();
  std::vector<Check> chosen;
  for (const std::string& name : names) {
    const auto& all = AllChecks();
    const auto found =
        std::find_if(all.begin(), all.end(),
                     [&](const Check& check) { return name == check.name; });
    if (found == all.end()) {
      return InvalidArgument("there is no check \"" + name +
                             "\"; --list names them");
    }
    chosen.push_back(*found);
  }
  return chosen;
}

}  // namespace

Result<std::vector<ConformanceRow>> RunConformance(
    const ConformanceOptions& options,
    const std::function<void(const ConformanceRow&)>& seen) {
  std::vector<std::string> settings = options.environment;
  if (!options.failing_environment.empty()) {
    settings.push_back(options.failing_environment);
  }
  for (const std::string& setting : settings) {
    if (setting.find('=') == std::string::npos || setting[0] == '=') {
      return InvalidArgument("\"" + setting + "\" is no NAME=VALUE");
    }
  }
  RONDO_ASSIGN_OR_RETURN(const auto checks, Chosen(options.checks));
  RONDO_ASSIGN_OR_RETURN(const auto versions, VersionsOf(options));
  std::vector<ConformanceRow> rows;
  for (const int version : versions) {
    const CheckSetup setup{options.path, version, options.device,
                           options.failing_environment};
    for (const Check& check : checks) {
      RONDO_ASSIGN_OR_RETURN(ConformanceRow row, RunOne(check, setup, options));
      if (seen) seen(row);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace rondo::plugin
