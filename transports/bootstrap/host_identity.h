// Which ranks share a host: who can map whose memory.
//
// A host here is not a machine but a set of processes that can share memory:
// the same running kernel, process-id and user namespace (memory is shared by
// /proc/PID/fd), System V namespace and /dev/shm. Two containers of one machine
// that cannot map each other's memory are two hosts, and use the network.
//
// Thread-safety: stateless. Failure: an unreadable /proc is an error that says
// what to set.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(std::string mine, HostIdentity(options.hostid));
//   RONDO_ASSIGN_OR_RETURN(auto all, bootstrap->AllGather(mine, deadline));
//   HostGroups groups = GroupByHost(all);
#pragma once

#include <string>
#include <vector>

#include "transports/base/status.h"

namespace rondo {

// `override_identity` (RONDO_HOSTID), if not empty, is taken as it is: ranks
// with equal identities are taken to share memory.
Result<std::string> HostIdentity(const std::string& override_identity);

struct HostGroups {
  int hosts = 0;
  // Indexed by rank. Hosts are numbered by their first rank, and the ranks of
  // one host in order of rank.
  std::vector<int> host;
  std::vector<int> local_rank;
  std::vector<int> local_size;
};

HostGroups GroupByHost(const std::vector<std::string>& identities);

}  // namespace rondo
