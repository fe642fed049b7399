// BucketUpdate: an update rule as the functor of one bucket's step.
//
// It knows which parameters lie in this rank's shard of the bucket. A gradient
// is summed, measured and used while it stays in the first-level cache. Squares
// are summed tile by tile; a tile belongs to one parameter.
//
// Thread-safety: one thread at a time. Ownership: refers to the setting, which
// refers to rule and state; all must stay during a call. Failure: a range
// outside of the shard is kInternal; nothing was written then.
//
// Example:
//   BucketUpdate update(layout, bucket, rank);
//   update.Begin(&setting);
//   communicator->Run({.collective = Collective::kShardedStep, ...,
//                      .update = &update});
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "collectives/engine/update.h"
#include "optimizer/kernels/exact_sum.h"
#include "optimizer/kernels/update_rule.h"
#include "optimizer/layout/model_layout.h"
#include "optimizer/step/shard_state.h"
#include "transports/base/status.h"

namespace rondo {

enum class UpdatePhase {
  kWhole,    // sources are summed, the rule applied, parameters stored
  kReduce,   // sources are summed and kept, and measured if a sum is given
  kMeasure,  // sources are summed and measured, but not kept
  kApply,    // what was kept goes to the rule, and parameters are stored
};

// What the buckets of one pass of a step share.
struct UpdateSetting {
  UpdatePhase phase = UpdatePhase::kWhole;
  const UpdateRule* rule = nullptr;
  ShardState* state = nullptr;
  float scale = 1;              // of the sum of gradients
  float coefficient = 1;        // of that, where clipping wants it
  ExactSum* squares = nullptr;  // receives the squares of the scaled sums
};

class BucketUpdate : public Update {
 public:
  BucketUpdate(const ModelLayout& layout, int bucket, int rank);

  void Begin(const UpdateSetting* setting);

  Result<UpdateOutcome> Apply(
      const UpdateRange& range, std::span<const ConstElements> sources,
      std::span<const MutableElements> destinations) override;

  // This rank's shard, as a range of the bucket.
  UpdateRange shard() const { return {0, begin_, count_, begin_}; }
  // Of the shard, since Begin(); padding counts.
  size_t applied_count() const { return applied_count_; }

 private:
  struct Piece {
    size_t begin;  // in the bucket
    size_t end;
    size_t state_offset;  // of its first element
    int group;
  };
  // What a range covers of a piece, or of one tile of it.
  struct Part {
    const Piece* piece;
    size_t begin;  // in the bucket
    size_t count;
    size_t range_offset;  // where it begins in sources and destinations

    size_t state_offset() const {
      return piece->state_offset + (begin - piece->begin);
    }
  };

  // The part may be larger than a tile, but is of one parameter.
  void UpdatePart(const Part& part, std::span<const ConstElements> sources,
                  std::span<const MutableElements> destinations);
  void ReducePart(const Part& part, std::span<const ConstElements> sources);
  void ReduceTile(const Part& part, std::span<const ConstElements> sources);
  void ReduceRaggedTile(const Part& part,
                        std::span<const ConstElements> sources);
  // Where the sums of a part are kept; null where they are not.
  float* KeptAt(const Part& part) const;

  size_t begin_ = 0;  // of the shard, in the bucket
  size_t count_ = 0;
  std::vector<Piece> pieces_;
  const UpdateSetting* setting_ = nullptr;
  size_t applied_count_ = 0;
  // The sums of tiles that came in parts and are not complete: by where the
  // tile begins.
  struct RaggedTile {
    size_t count = 0;
    std::vector<float> sums;
  };
  std::map<size_t, RaggedTile> ragged_;
};

}  // namespace rondo
