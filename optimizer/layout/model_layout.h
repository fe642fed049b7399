// ModelLayout: where every element of a model lies, as pure data.
//
// The parameters, given in the order of use, are packed into buckets in reverse
// order: bucket 0 begins with the last one, whose gradient is ready first. A
// tied parameter has no storage of its own and lies where the one that is used
// first does, since only then its gradient is complete.
//
// Every parameter starts on a tile border (1024 elements) and takes whole
// tiles. A bucket is closed when it has reached the target, and when storage
// type, unit or frozen-ness changes; a parameter that is larger than what is
// left goes on in the next bucket. A bucket is padded to whole tiles for every
// rank, so that tiles belong to one parameter and one rank, whatever the sizes.
// The target is rounded up to whole tiles for every rank and 4096 bytes.
// Hence the pieces of a parameter follow each other without a gap in the flat
// parameter and gradient buffers, and each parameter is one plain array there.
//
// Thread-safety: a value. Ownership: owns all it lists. Failure: Create()
// returns kInvalidArgument and names the parameter, the value and what is
// accepted. Other functions want numbers in range.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(
//       ModelLayout layout,
//       ModelLayout::Create({{.name = "w", .shape = {768, 3072}},
//                            {.name = "b", .shape = {3072}, .group = 1}},
//                           {.world_size = world_size}));
//   std::vector<char> parameters(layout.parameter_bytes());
//   void* w = parameters.data() + layout.PlaceOf(0).parameter_offset_bytes;
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/kernels/data_type.h"
#include "optimizer/layout/layout_bucket.h"
#include "optimizer/layout/layout_bytes.h"
#include "optimizer/layout/layout_parameter.h"
#include "transports/base/status.h"

namespace rondo {

class ModelLayout {
 public:
  ModelLayout() = default;  // no parameters, one rank

  static Result<ModelLayout> Create(std::vector<LayoutParameter> parameters,
                                    LayoutOptions options);

  int world_size() const { return options_.world_size; }
  const LayoutOptions& options() const { return options_; }
  const std::vector<LayoutParameter>& parameters() const { return parameters_; }
  const std::vector<LayoutBucket>& buckets() const { return buckets_; }

  // Sizes of the flat buffers, with padding. Each rank has `state_count`
  // elements in each of its arrays of state.
  size_t parameter_bytes() const { return parameter_bytes_; }
  size_t gradient_count() const { return gradient_count_; }
  size_t state_count() const {
    return gradient_count_ / static_cast<size_t>(options_.world_size);
  }

  // Elements of all buckets: what parameters cover, and the rest.
  size_t used_count() const { return used_count_; }
  size_t padding_count() const { return padding_count_; }
  // The used part of the buckets, from 0 to 1; 1 when there is nothing.
  double utilization() const;

  // The parameter whose storage parameter number `parameter` uses: itself,
  // unless it is tied.
  int StorageOf(int parameter) const { return storage_[parameter]; }

  // The parts of a parameter in the order of its elements; none when it has no
  // elements.
  const std::vector<PlacedPiece>& PiecesOf(int parameter) const {
    return pieces_[storage_[parameter]];
  }

  // The whole parameter as one array of the flat buffers. `bucket` and
  // `bucket_offset` say where it begins. Of no elements it is at kNoOffset.
  PlacedPiece PlaceOf(int parameter) const;

  // The parts of parameters in bucket number `bucket` that `rank` owns, by
  // position; none when all it owns is padding.
  std::vector<ShardPiece> ShardPieces(int bucket, int rank) const;

  // What rank `rank` needs with gradients of this type and such state.
  LayoutBytes Bytes(int rank, DataType gradient_type,
                    LayoutState state = {}) const;

  // For people: a line for each bucket, its pieces and each parameter without
  // storage, and totals.
  std::string Dump() const;

  // Equal for layouts that are equal in all that ranks must agree on: names,
  // shapes, types, groups, units, frozen, tied, ranks and bucket target.
  uint64_t Hash() const;
  // The same of one parameter, to find the first that differs.
  uint64_t ParameterHash(int parameter) const;

 private:
  LayoutOptions options_;
  std::vector<LayoutParameter> parameters_;
  std::vector<int> storage_;  // one for each parameter
  std::vector<LayoutBucket> buckets_;
  std::vector<std::vector<PlacedPiece>> pieces_;  // one for each parameter
  size_t parameter_bytes_ = 0;
  size_t gradient_count_ = 0;
  size_t used_count_ = 0;
  size_t padding_count_ = 0;
};

}  // namespace rondo
