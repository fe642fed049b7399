// The ways that bytes can take between the ranks of a test job on one machine,
// as environment variables: the tests run over all of them.
//
// The ranks are one host, which compares calls through shared memory, or are
// told that each is a host of its own, which compares them through messages.
//
// Thread-safety: constants.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace rondo::testing {

struct PathUnderTest {
  std::string name;
  std::map<std::string, std::string> environment;
};

inline void PrintTo(const PathUnderTest& path, std::ostream* out) {
  *out << path.name;
}

inline std::vector<PathUnderTest> AllPaths() {
  return {
      {"Direct", {{"RONDO_ALGO", "direct"}}},
      {"Symmetric", {{"RONDO_ALGO", "direct"}, {"RANKS_MEMORY", "symmetric"}}},
      {"Staged", {{"RONDO_ALGO", "staged"}}},
      {"Tcp", {{"RONDO_ALGO", "ring"}, {"RONDO_UCX_TLS", "tcp,self"}}},
      {"SharedMemory",
       {{"RONDO_ALGO", "ring"}, {"RONDO_UCX_TLS", "posix,self"}}},
      {"TcpBetweenHosts",
       {{"RONDO_UCX_TLS", "tcp,self"}, {"RONDO_HOSTID", "host%r"}}},
      {"SharedMemoryBetweenHosts",
       {{"RONDO_UCX_TLS", "posix,self"}, {"RONDO_HOSTID", "host%r"}}},
  };
}

}  // namespace rondo::testing
