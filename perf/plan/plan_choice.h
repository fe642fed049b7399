// Which shape `rondo plan` is asked for, and which part of its text to show.
//
// Thread-safety: pure functions. Failure: kInvalidArgument with the value and
// what is accepted.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(Shape shape,
//                          MakeShape({.collective = "all_gather", .ranks =
//                          6}));
#pragma once

#include <string>
#include <vector>

#include "collectives/plan/plan.h"
#include "collectives/plan/verifier.h"
#include "transports/base/status.h"

namespace rondo::perf {

struct PlanChoice {
  std::string collective = "";  // CollectiveName()
  std::string algorithm = "";   // empty: the collective's first
  int ranks = 1;
  int root = 0;  // broadcast
};

// The names that MakeShape accepts.
std::vector<std::string> PlannableCollectives();

Result<Shape> MakeShape(const PlanChoice& choice);

// A proof costs steps times ranks; beyond this it is left out.
inline constexpr int kMaxProvedRanks = 512;

// ShapeToText with the programs of `shown` ranks only (ascending) and at most
// `max_links` lines of links; says what was left out. `facts` may be null.
std::string PartOfShapeToText(const Shape& shape, const PlanFacts* facts,
                              const std::vector<int>& shown, int max_links);

// ShapeToJson with the program of `rank` only.
std::string RankOfShapeToJson(const Shape& shape, const PlanFacts* facts,
                              int rank);

}  // namespace rondo::perf
