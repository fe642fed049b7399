// World: several ranks in one process, one thread each, for tests.
//
// Each rank has a real Communicator: the same engine, plans, control segment
// and checks as between processes. Bytes move through the in-process transport,
// or through UCX, as the options say; hosts are as many as the test wants.
//
// Thread-safety: RunWorld() is called by one thread. Failure: a rank's body
// reports through gtest's EXPECT_*, which may be used from any thread.
//
// Example:
//   RunWorld({.ranks = 3}, [](Communicator& comm) {
//     EXPECT_TRUE(comm.Barrier().ok());
//   });
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "transports/base/parameters.h"

namespace rondo {

struct WorldOptions {
  int ranks = 1;
  // Host of each rank, "" for one host of all.
  std::vector<std::string> host_ids = {};
  bool over_ucx = false;
  int lanes = 1;  // of the in-process transport
  // RONDO_* settings laid over the defaults, the same on every rank...
  std::vector<std::pair<std::string, std::string>> settings = {};
  // ... and per rank.
  std::function<void(int rank, Parameters*)> adjust = {};
};

// Makes the communicators and runs `body` on each rank's thread. A rank whose
// communicator cannot be made fails the test.
void RunWorld(const WorldOptions& options,
              const std::function<void(Communicator&)>& body);

}  // namespace rondo
