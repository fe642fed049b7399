#include "transports/bootstrap/host_identity.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <map>

namespace rondo {

namespace {

constexpr char kBootIdFile[] = "/proc/sys/kernel/random/boot_id";

Status Unreadable(const std::string& path, int error) {
  return SystemError(
      "cannot tell which ranks share this host (set "
      "RONDO_HOSTID to say it): " +
          path,
      error);
}

Result<std::string> BootId() {
  std::ifstream file(kBootIdFile);
  std::string boot_id;
  if (!std::getline(file, boot_id) || boot_id.empty()) {
    return Unreadable(kBootIdFile, ENOENT);
  }
  return boot_id;
}

// "pid:[4026531836]".
Result<std::string> Namespace(const char* kind) {
  const std::string path = std::string("/proc/self/ns/") + kind;
  char target[128];
  const ssize_t bytes = readlink(path.c_str(), target, sizeof(target));
  if (bytes < 0) return Unreadable(path, errno);
  return std::string(target, static_cast<size_t>(bytes));
}

// Named segments live there; "none" is a fact as well.
std::string SharedMemoryMount() {
  struct stat facts;
  if (stat("/dev/shm", &facts) != 0) return "none";
  return std::to_string(facts.st_dev) + "." + std::to_string(facts.st_ino);
}

}  // namespace

Result<std::string> HostIdentity(const std::string& override_identity) {
  if (!override_identity.empty()) return override_identity;
  RONDO_ASSIGN_OR_RETURN(std::string identity, BootId());
  for (const char* kind : {"pid", "user", "ipc"}) {
    RONDO_ASSIGN_OR_RETURN(std::string name, Namespace(kind));
    identity += " " + name;
  }
  return identity + " shm:" + SharedMemoryMount();
}

HostGroups GroupByHost(const std::vector<std::string>& identities) {
  HostGroups groups;
  std::map<std::string, int> numbers;
  std::vector<int> sizes;
  for (const std::string& identity : identities) {
    const auto [entry, is_new] = numbers.emplace(identity, groups.hosts);
    if (is_new) {
      ++groups.hosts;
      sizes.push_back(0);
    }
    groups.host.push_back(entry->second);
    groups.local_rank.push_back(sizes[entry->second]++);
  }
  for (int host : groups.host) groups.local_size.push_back(sizes[host]);
  return groups;
}

}  // namespace rondo
