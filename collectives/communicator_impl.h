// What a Communicator is made of; only for the files that implement it.
//
// Thread-safety: as communicator.h. Ownership: everything here. The destructor
// closes in an orderly way after a clean end and at once after a failure.
#pragma once

#include <memory>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/engine/engine.h"
#include "collectives/progress_thread.h"

namespace rondo {

class Communicator::Impl {
 public:
  Impl(std::shared_ptr<Coordinator> meeting_place, EngineParts parts,
       Parameters settings);
  ~Impl();

  int LocalSize() const;
  void WriteTrace();

  std::shared_ptr<Coordinator> coordinator;  // outlives the bootstrap
  const Parameters parameters;
  const int rank;
  const int world_size;
  const std::vector<int> host_of_rank;
  Engine engine;
  std::unique_ptr<ProgressThread> progress;  // null: callers do it
};

}  // namespace rondo
