// LayoutProblem: proves a model layout by painting, element by element.
//
// It knows the rules, not how layouts are made. It reads plain facts, so that
// a test can break them by hand and see that the proof notices.
//
// Thread-safety: pure functions. Ownership: facts are a copy. Failure: the
// first problem found, as text; empty when there is none.
//
// Example:
//   EXPECT_EQ(LayoutProblem(FactsOf(layout)), "");
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "optimizer/layout/model_layout.h"

namespace rondo {

struct LayoutFacts {
  int world_size = 1;
  std::vector<LayoutParameter> parameters;
  std::vector<LayoutBucket> buckets;
  std::vector<std::vector<std::vector<ShardPiece>>> shards;  // [bucket][rank]
  std::vector<PlacedPiece> places;  // PlaceOf each parameter
  size_t gradient_count = 0;
  size_t state_count = 0;
  size_t parameter_bytes = 0;
  size_t used_count = 0;
  size_t padding_count = 0;
};

LayoutFacts FactsOf(const ModelLayout& layout);

std::string LayoutProblem(const LayoutFacts& facts);

}  // namespace rondo
