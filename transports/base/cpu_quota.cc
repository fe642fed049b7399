#include "transports/base/cpu_quota.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace rondo {
namespace {

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

std::vector<std::string> ReadLines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

bool Contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Where one hierarchy of groups is mounted, and which of its groups appears at
// the mount point (a container may see only its own part).
struct Mount {
  std::string root;
  std::string point;
};

// `version` 2, or 1 for the hierarchy of version 1 that has the cpu controller.
std::optional<Mount> FindMount(const std::string& process_directory,
                               int version) {
  for (const std::string& line : ReadLines(process_directory + "/mountinfo")) {
    // "ID PARENT DEVICE ROOT POINT OPTIONS [TAGS] - TYPE SOURCE SUPER_OPTIONS"
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const auto before = Split(line.substr(0, dash), ' ');
    const auto after = Split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    const bool wanted =
        version == 2
            ? after[0] == "cgroup2"
            : after[0] == "cgroup" && Contains(Split(after[2], ','), "cpu");
    if (wanted) return Mount{before[3], before[4]};
  }
  return std::nullopt;
}

// The group of this process: from a line "ID:CONTROLLERS:PATH".
std::optional<std::string> FindGroup(const std::string& process_directory,
                                     int version) {
  for (const std::string& line : ReadLines(process_directory + "/cgroup")) {
    const size_t first = line.find(':');
    if (first == std::string::npos) continue;
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool wanted = version == 2 ? controllers.empty()
                                     : Contains(Split(controllers, ','), "cpu");
    if (wanted) return line.substr(second + 1);
  }
  return std::nullopt;
}

// The quota that one group's own files state; 0 when it states none.
int LimitOfGroup(const std::string& directory, int version) {
  int64_t quota_us = 0;
  int64_t period_us = 0;
  if (version == 2) {
    // "max 100000" does not parse as a number: no limit.
    std::ifstream(directory + "/cpu.max") >> quota_us >> period_us;
  } else {
    std::ifstream(directory + "/cpu.cfs_quota_us") >> quota_us;
    std::ifstream(directory + "/cpu.cfs_period_us") >> period_us;
  }
  if (quota_us <= 0 || period_us <= 0) return 0;
  const int64_t cpus = quota_us / period_us + (quota_us % period_us != 0);
  return static_cast<int>(
      std::min<int64_t>(cpus, std::numeric_limits<int>::max()));
}

int Smaller(int a, int b) {
  if (a == 0) return b;
  return b == 0 ? a : std::min(a, b);
}

int LimitOfVersion(const std::string& process_directory, int version) {
  const auto mount = FindMount(process_directory, version);
  const auto group = FindGroup(process_directory, version);
  if (!mount || !group) return 0;
  std::string path = *group == "/" ? "" : *group;
  if (mount->root != "/") {
    const bool below = path.compare(0, mount->root.size(), mount->root) == 0;
    path = below ? path.substr(mount->root.size()) : "";
  }
  int limit = LimitOfGroup(mount->point, version);
  while (!path.empty()) {
    limit = Smaller(limit, LimitOfGroup(mount->point + path, version));
    const size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash);
  }
  return limit;
}

}  // namespace

int CgroupCpuLimit(const std::string& process_directory) {
  return Smaller(LimitOfVersion(process_directory, 2),
                 LimitOfVersion(process_directory, 1));
}

}  // namespace rondo
