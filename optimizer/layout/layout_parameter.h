// LayoutParameter and LayoutOptions: what a model layout is made from.
//
// A parameter is a named array of the model, listed in the order in which the
// forward pass uses it. What is said here decides where it lies (unit, type,
// frozen, tied_to), which hyper-parameters it gets (group) and how ranks tell
// whether they describe the same model.
//
// Thread-safety: values. Ownership: each owns its texts. Failure: nothing is
// checked here; ModelLayout::Create() refuses what is not accepted and names
// the parameter.
//
// Example:
//   std::vector<LayoutParameter> parameters = {
//       {.name = "embedding", .shape = {50257, 768}, .unit = 0},
//       {.name = "norm", .shape = {768}, .group = 1, .unit = 1},
//       {.name = "head", .shape = {50257, 768}, .unit = 1,
//        .tied_to = "embedding"}};
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "collectives/kernels/data_type.h"
#include "optimizer/kernels/tile.h"

namespace rondo {

// Of all buckets together, with padding. Bytes of any type, and of several
// arrays of state, then still fit 64 bits.
inline constexpr size_t kMaxLayoutElements = size_t{1} << 56;

// What bounds the memory for the layout itself, and the calls of a step.
inline constexpr size_t kMaxLayoutBuckets = size_t{1} << 20;

struct LayoutParameter {
  std::string name;
  // No dimensions: a scalar. A dimension of 0: no elements, and no storage.
  std::vector<size_t> shape = {};
  // What the model computes with: half, bfloat16 or float.
  DataType type = DataType::kFloat32;
  // Which hyper-parameters it gets: learning rate, weight decay and so on.
  int group = 0;
  // Units are gathered and released as a whole; they do not decrease in the
  // order of use. A bucket never holds two.
  int unit = 0;
  // Held by every rank, but never reduced nor updated.
  bool frozen = false;
  // The earlier parameter whose storage this one shares; empty: it has its own.
  std::string tied_to = {};

  bool tied() const { return !tied_to.empty(); }

  // The product of the shape; the largest size_t when it does not fit one,
  // which no layout accepts.
  size_t count() const {
    constexpr size_t kLargest = std::numeric_limits<size_t>::max();
    size_t product = 1;
    bool fits = true;
    for (size_t dimension : shape) {
      if (dimension == 0) return 0;
      fits = fits && product <= kLargest / dimension;
      if (fits) product *= dimension;
    }
    return fits ? product : kLargest;
  }

  friend bool operator==(const LayoutParameter&,
                         const LayoutParameter&) = default;
};

struct LayoutOptions {
  // How many ranks share the optimizer's state: at least 1.
  int world_size = 1;
  // A bucket is closed when it holds this many elements, rounded up to a whole
  // number of tiles for every rank: at least 1.
  size_t bucket_count_target = size_t{16} << 20;
};

}  // namespace rondo
