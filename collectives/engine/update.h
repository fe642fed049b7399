// Update: the functor that fuses an optimizer into a collective.
//
// A sharded step is one plan: reduce-scatter, then `update` on each chunk of
// the shard, then all-gather of what it wrote. The collectives know the
// optimizer only as this interface; deriving from it is how people build their
// own.
//
// Apply() gets, for a range of one parameter:
//   - the sources: arrays whose elementwise sum, in the order given, is the sum
//     over all ranks of the gradient; each has its own type. How many there are
//     depends on the algorithm (a ring passes the others' sum and our own);
//   - the destinations: arrays that must all receive the same new values, our
//     own output first, then peers' where the algorithm writes them directly.
// Neither overlaps the other. In the halves of a sharded step (reduce_update,
// update_gather) there are no destinations in the first and no sources in the
// second: what happens in between is the functor's own affair. Apply() may be
// called for ranges in any order and of any size; an element's result must not
// depend on how ranges were cut.
//
// Prepare() is a hint, so that state can be fetched from where it lives: ranges
// in the order in which Apply() will first be tried, a window of chunks ahead.
// Each range of Apply() lies within a prepared one.
//
// Thread-safety: called by one thread at a time, the one inside the engine. It
// must not call a communicator.
// Ownership: the caller's; must outlive the call. Failure: an error ends the
// call on every rank with that error.
//
// Example: see optimizer/kernels and optimizer/examples.
#pragma once

#include <cstddef>
#include <span>

#include "collectives/kernels/data_type.h"
#include "collectives/kernels/store_hint.h"
#include "transports/base/status.h"

namespace rondo {

struct ConstElements {
  DataType type;
  const void* data;
};

struct MutableElements {
  DataType type;
  void* data;
  // Whether somebody will read it soon; speed only.
  StoreHint store = StoreHint::kCached;
};

// Elements offset .. offset + count - 1 of parameter number `parameter`;
// `vector_offset` is where the first of them lies in the whole vector.
struct UpdateRange {
  int parameter;
  size_t offset;
  size_t count;
  size_t vector_offset;
};

enum class UpdateOutcome {
  kDone,
  kLater,  // state is not there yet; nothing was written; ask again
};

class Update {
 public:
  virtual ~Update() = default;

  virtual void Prepare(const UpdateRange& range) { static_cast<void>(range); }

  virtual Result<UpdateOutcome> Apply(
      const UpdateRange& range, std::span<const ConstElements> sources,
      std::span<const MutableElements> destinations) = 0;
};

}  // namespace rondo
