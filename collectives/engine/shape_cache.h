// ShapeCache: the shapes of one communicator, made and proved once.
//
// Thread-safety: one thread at a time. Ownership: entries are shared with the
// calls that run them. Failure: kInternal when the verifier refuses a shape,
// kNotSupported when no algorithm fits.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto prepared, cache.Get(Collective::kBarrier, 0));
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/algorithms/algorithms.h"
#include "collectives/engine/call_run.h"
#include "collectives/plan/plan.h"
#include "transports/base/status.h"

namespace rondo {

// What the shapes of a communicator depend on; equal on all ranks but for
// `rank`.
struct ShapeChoice {
  int rank = 0;
  std::vector<int> host_of_rank;
  int rails = 1;
  std::string algorithm;       // RONDO_ALGO: auto, ring, direct
  bool all_reach_all = false;  // every rank can touch every other's memory
};

class ShapeCache {
 public:
  explicit ShapeCache(ShapeChoice choice);

  Result<std::shared_ptr<const PreparedShape>> Get(Collective collective,
                                                   int root);

 private:
  Result<Shape> Make(Collective collective, int root) const;
  Result<Shape> MakeDirect(Collective collective) const;

  const ShapeChoice choice_;
  RankOrder order_;  // the ranks of a host stand together
  std::map<std::pair<Collective, int>, std::shared_ptr<const PreparedShape>>
      shapes_;
};

}  // namespace rondo
