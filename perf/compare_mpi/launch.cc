#include "perf/compare_mpi/launch.h"

#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "perf/launch/ranks_option.h"

namespace rondo::perf {
namespace {

constexpr char kRankMark[] = "--as-rank";

// Replaces the process; returns errno.
int Execute(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  return errno;
}

}  // namespace

bool IsRank(MpiFlavor flavor, const CompareOptions& options,
            const EnvironmentReader& environment) {
  return options.as_rank ||
         environment.Get(std::string(RankVariable(flavor))).has_value();
}

std::vector<std::string> LauncherCommand(
    MpiFlavor flavor, const std::string& launcher, int ranks, bool superuser,
    const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {launcher};
  for (std::string& word : LauncherArguments(flavor, ranks, superuser)) {
    words.push_back(std::move(word));
  }
  words.insert(words.end(),
               {program, kRankMark, "--ranks", std::to_string(ranks)});
  for (const std::string& word : WithoutRanksOption(arguments)) {
    words.push_back(word);
  }
  return words;
}

std::vector<std::string> WithoutRankMark(std::vector<std::string> words) {
  words.erase(std::remove(words.begin(), words.end(), kRankMark), words.end());
  return words;
}

Status BecomeLauncher(MpiFlavor flavor, const CompareOptions& options,
                      const std::vector<std::string>& arguments) {
  std::error_code error;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return SystemError("reading /proc/self/exe", error.value());
  std::vector<std::string> launchers = LauncherPrograms(flavor);
  if (!options.launcher.empty()) launchers = {options.launcher};
  const int ranks = options.ranks > 0 ? options.ranks : kDefaultComparedRanks;
  int why = ENOENT;
  for (const std::string& launcher : launchers) {
    why = Execute(LauncherCommand(flavor, launcher, ranks, geteuid() == 0,
                                  program.string(), arguments));
    if (why != ENOENT) break;
  }
  return InvalidUsage(fmt::format(
      "cannot start the launcher of {} ({}): {}; name it with --mpirun",
      FlavorName(flavor), fmt::join(launchers, ", "), strerror(why)));
}

}  // namespace rondo::perf
