// ShardLayout: which rank owns which part of a flat parameter vector.
//
// The parameters of a model, laid end to end in the order given, are one
// vector. It is cut into one contiguous shard per rank: block b of the
// collectives is rank b's shard. A shard ignores where parameters begin and
// end, so a parameter may lie in several shards and a shard may hold many
// parameters or none.
//
// Borders fall on multiples of `alignment` elements, so that a cache line, a
// vector register or a disk sector never belongs to two ranks. The vector is
// seen as units of `alignment` elements, the last one short; units are dealt as
// evenly as possible, the first ranks taking one more. Hence no shard exceeds
// an even share by more than `alignment` elements, and when there are fewer
// units than ranks the last ranks own nothing. Any total works: 0, 1, a prime,
// fewer elements than ranks.
//
// Thread-safety: a value. Ownership: owns its names. Failure: Create() returns
// kInvalidArgument and names the value and what is accepted.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(
//       ShardLayout layout,
//       ShardLayout::Create({{"embedding", 4096}, {"bias", 7}}, world_size));
//   layout.shard_counts()[rank];  // elements of optimizer state to allocate
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "transports/base/status.h"

namespace rondo {

inline constexpr size_t kDefaultShardAlignment = 1024;

// A parameter is any named array of the model. `decay`: whether weight decay
// applies; by custom not to biases and norms.
struct ParameterSpec {
  std::string name;
  size_t count = 0;
  bool decay = true;
};

// A part of one parameter: its elements offset .. offset + count - 1.
struct ParameterRange {
  int parameter = 0;
  size_t offset = 0;
  size_t count = 0;
  size_t vector_offset = 0;  // where its first element lies in the vector

  friend bool operator==(const ParameterRange&,
                         const ParameterRange&) = default;
};

class ShardLayout {
 public:
  ShardLayout() = default;  // no parameters, no ranks

  // Names must be distinct and not empty; counts may be 0.
  static Result<ShardLayout> Create(std::vector<ParameterSpec> parameters,
                                    int world_size,
                                    size_t alignment = kDefaultShardAlignment);

  int world_size() const { return static_cast<int>(shard_counts_.size()); }
  size_t alignment() const { return alignment_; }
  size_t total_count() const { return total_count_; }

  const std::vector<ParameterSpec>& parameters() const { return parameters_; }
  // One per parameter, in order: what CollectiveCall::parameter_counts wants.
  const std::vector<size_t>& parameter_counts() const {
    return parameter_counts_;
  }
  // Where parameter number `parameter` starts in the vector.
  size_t parameter_offset(int parameter) const {
    return parameter_offsets_[parameter];
  }

  // One per rank: what CollectiveCall::counts wants.
  const std::vector<size_t>& shard_counts() const { return shard_counts_; }
  size_t shard_offset(int rank) const { return shard_offsets_[rank]; }

  // The parts of parameters that rank `rank` owns, in vector order. Empty parts
  // are left out.
  std::vector<ParameterRange> RangesOf(int rank) const;

  // For people: one line per rank with its range and the parameters it covers.
  std::string ToText() const;

 private:
  size_t alignment_ = kDefaultShardAlignment;
  size_t total_count_ = 0;
  std::vector<ParameterSpec> parameters_;
  std::vector<size_t> parameter_counts_;
  std::vector<size_t> parameter_offsets_;
  std::vector<size_t> shard_counts_;
  std::vector<size_t> shard_offsets_;
};

}  // namespace rondo
