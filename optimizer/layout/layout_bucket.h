// LayoutBucket: a run of parameters that is reduced, updated and gathered as
// one.
//
// Positions in a bucket count elements from its start. It belongs to the ranks
// in equal runs: rank r of N owns the elements r * count / N up to
// (r + 1) * count / N, whole tiles. Elements that no piece covers are padding.
//
// Thread-safety: values. Ownership: a bucket owns its list of pieces. Failure:
// none.
//
// Example:
//   for (const LayoutPiece& piece : layout.buckets()[0].pieces) {
//     // parameter number piece.parameter, from its element
//     // piece.parameter_offset on, lies at piece.bucket_offset
//   }
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "collectives/kernels/data_type.h"

namespace rondo {

// Where something would lie that does not exist: gradients and state of frozen
// parameters.
inline constexpr size_t kNoOffset = std::numeric_limits<size_t>::max();

// A part of a parameter in a bucket: its elements parameter_offset up to
// parameter_offset + count. It starts on a tile border of both.
struct LayoutPiece {
  int parameter = 0;
  size_t parameter_offset = 0;
  size_t count = 0;
  size_t bucket_offset = 0;

  friend bool operator==(const LayoutPiece&, const LayoutPiece&) = default;
};

struct LayoutBucket {
  DataType type = DataType::kFloat32;
  int unit = 0;
  bool frozen = false;
  size_t count = 0;       // with padding: whole tiles for every rank
  size_t used_count = 0;  // what the pieces cover
  // Where it starts in the flat gradient buffer, and in the state arrays of
  // each rank, in elements; kNoOffset when frozen.
  size_t gradient_offset = kNoOffset;
  size_t state_offset = kNoOffset;
  // Where it starts in the flat parameter buffer; a multiple of 4096.
  size_t parameter_offset_bytes = 0;
  std::vector<LayoutPiece> pieces;  // by position

  size_t padding_count() const { return count - used_count; }
  size_t ShardCount(int world_size) const {
    return count / static_cast<size_t>(world_size);
  }
  size_t ShardOffset(int world_size, int rank) const {
    return ShardCount(world_size) * static_cast<size_t>(rank);
  }
};

// A part of a parameter that one rank owns.
struct ShardPiece {
  int parameter = 0;
  size_t parameter_offset = 0;
  size_t count = 0;
  size_t bucket_offset = 0;
  size_t state_offset = 0;  // in that rank's state arrays; kNoOffset if frozen

  friend bool operator==(const ShardPiece&, const ShardPiece&) = default;
};

// A part of a parameter, seen from the parameter.
struct PlacedPiece {
  int bucket = 0;
  size_t parameter_offset = 0;
  size_t count = 0;
  size_t bucket_offset = 0;
  size_t gradient_offset = kNoOffset;  // elements; kNoOffset if frozen
  size_t parameter_offset_bytes = 0;   // in the flat parameter buffer

  friend bool operator==(const PlacedPiece&, const PlacedPiece&) = default;
};

}  // namespace rondo
