// Random models, proved by painting; and hand-broken layouts, which must fail.
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "optimizer/layout/layout_checker.h"
#include "optimizer/layout/model_layout.h"
#include "rapidcheck/gtest.h"

namespace rondo {
namespace {

constexpr size_t kEverything = std::numeric_limits<size_t>::max();

size_t AnyCount() {
  return *rc::gen::oneOf(
      rc::gen::element<size_t>(0, 1, 2, 7, 1023, 1024, 1025, 2048, 4099),
      rc::gen::inRange<size_t>(0, 12000));
}

// Parameters in few units and types, so that buckets hold many of them, some
// frozen, some tied to an earlier one.
std::vector<LayoutParameter> AnyParameters() {
  std::vector<LayoutParameter> parameters;
  const int count = *rc::gen::inRange(0, 12);
  int unit = 0;
  for (int i = 0; i < count; ++i) {
    LayoutParameter parameter;
    unit += *rc::gen::weightedElement<int>({{5, 0}, {1, 1}, {1, 3}});
    const int original = *rc::gen::inRange(-3 * count, count);
    if (original >= 0 && original < i && !parameters[original].tied()) {
      parameter = parameters[original];
      parameter.tied_to = parameter.name;
    } else {
      parameter.shape = {AnyCount()};
      parameter.type =
          *rc::gen::weightedElement<DataType>({{4, DataType::kBfloat16},
                                               {1, DataType::kFloat16},
                                               {2, DataType::kFloat32}});
      parameter.frozen = *rc::gen::weightedElement<bool>({{6, false}, {1, 1}});
      parameter.group = *rc::gen::inRange(0, 3);
    }
    parameter.unit = unit;
    parameter.name = "p" + std::to_string(i);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

size_t AnyTarget() {
  return *rc::gen::oneOf(rc::gen::element<size_t>(1, 1024, 1025, kEverything),
                         rc::gen::inRange<size_t>(1, 40000));
}

ModelLayout LayoutOf(const std::vector<LayoutParameter>& parameters,
                     int world_size, size_t bucket_count_target) {
  auto layout =
      ModelLayout::Create(parameters, {world_size, bucket_count_target});
  EXPECT_TRUE(layout.ok()) << layout.status().ToString();
  return layout.ok() ? *layout : ModelLayout();
}

// (parameter, element) in the order of position, joined where buckets cut.
std::vector<LayoutPiece> Sequence(const ModelLayout& layout) {
  std::vector<LayoutPiece> sequence;
  for (const LayoutBucket& bucket : layout.buckets()) {
    for (LayoutPiece piece : bucket.pieces) {
      piece.bucket_offset = 0;
      if (!sequence.empty() && sequence.back().parameter == piece.parameter &&
          sequence.back().parameter_offset + sequence.back().count ==
              piece.parameter_offset) {
        sequence.back().count += piece.count;
      } else {
        sequence.push_back(piece);
      }
    }
  }
  return sequence;
}

RC_GTEST_PROP(ModelLayoutProperty, EveryElementHasOnePlaceAndOneOwner, ()) {
  const auto parameters = AnyParameters();
  const int world_size = *rc::gen::element(1, 2, 3, 5, 7, 8);
  const ModelLayout layout = LayoutOf(parameters, world_size, AnyTarget());
  const std::string problem = LayoutProblem(FactsOf(layout));
  if (!problem.empty()) RC_FAIL(problem + "\n" + layout.Dump());
}

RC_GTEST_PROP(ModelLayoutProperty, TheOrderIsTheSameForEveryTarget, ()) {
  const auto parameters = AnyParameters();
  const int world_size = *rc::gen::element(1, 2, 3, 5, 7, 8);
  std::vector<LayoutPiece> expected;  // reverse order of use, each one whole
  for (int i = static_cast<int>(parameters.size()) - 1; i >= 0; --i) {
    const size_t count = parameters[i].count();
    if (!parameters[i].tied() && count > 0) expected.push_back({i, 0, count});
  }
  for (const size_t target : {size_t{1}, AnyTarget(), kEverything}) {
    RC_ASSERT(Sequence(LayoutOf(parameters, world_size, target)) == expected);
  }
}

RC_GTEST_PROP(ModelLayoutProperty, BytesOfAllRanksAddUpToTheFormulas, ()) {
  const auto parameters = AnyParameters();
  const int world_size = *rc::gen::element(1, 2, 3, 5, 7, 8);
  const ModelLayout layout = LayoutOf(parameters, world_size, AnyTarget());
  size_t trained = 0;
  for (const LayoutParameter& parameter : parameters) {
    if (!parameter.tied() && !parameter.frozen) trained += parameter.count();
  }
  size_t state_bytes = 0;
  for (int rank = 0; rank < world_size; ++rank) {
    const LayoutBytes bytes = layout.Bytes(rank, DataType::kBfloat16);
    state_bytes += bytes.master.used + bytes.moments.used;
    RC_ASSERT(bytes.gradients.used == 2 * trained);
    RC_ASSERT(bytes.gradients.total() == 2 * layout.gradient_count());
    RC_ASSERT(bytes.parameters.total() == layout.parameter_bytes());
    RC_ASSERT(bytes.master.total() + bytes.moments.total() ==
              12 * layout.state_count());
  }
  RC_ASSERT(state_bytes == 12 * trained);
}

struct Breakage {
  const char* name;
  std::function<void(LayoutFacts*)> apply;
};

std::vector<Breakage> Breakages() {
  return {
      {"a piece shifted by one",
       [](LayoutFacts* facts) { ++facts->buckets[0].pieces[1].bucket_offset; }},
      {"a piece too short",
       [](LayoutFacts* facts) {
         --facts->buckets[0].pieces[1].count;
         --facts->buckets[0].used_count;
       }},
      {"a piece over another",
       [](LayoutFacts* facts) {
         auto& pieces = facts->buckets[0].pieces;
         pieces[1].bucket_offset = pieces[0].bucket_offset;
       }},
      {"two pieces exchanged",
       [](LayoutFacts* facts) {
         auto& pieces = facts->buckets[0].pieces;
         std::swap(pieces[0].parameter, pieces[1].parameter);
       }},
      {"a piece lost",
       [](LayoutFacts* facts) {
         LayoutBucket& bucket = facts->buckets[0];
         bucket.used_count -= bucket.pieces[0].count;
         bucket.pieces.erase(bucket.pieces.begin());
       }},
      {"another bucket's unit",
       [](LayoutFacts* facts) { ++facts->buckets[0].unit; }},
      {"half a tile of padding",
       [](LayoutFacts* facts) { facts->buckets[0].count += 512; }},
      {"gradients that overlap",
       [](LayoutFacts* facts) { facts->buckets[1].gradient_offset -= 1024; }},
      {"state that overlaps",
       [](LayoutFacts* facts) { --facts->buckets[1].state_offset; }},
      {"parameters that overlap",
       [](LayoutFacts* facts) {
         facts->buckets[1].parameter_offset_bytes -= 4096;
       }},
      {"a parameter placed elsewhere",
       [](LayoutFacts* facts) { ++facts->places[2].parameter_offset_bytes; }},
      {"an owner too many",
       [](LayoutFacts* facts) {
         auto& shards = facts->shards[0];
         shards[1].push_back(shards[0].front());
       }},
      {"an owner too few",
       [](LayoutFacts* facts) { facts->shards[0][1].pop_back(); }},
      {"state of another element",
       [](LayoutFacts* facts) { ++facts->shards[0][0].front().state_offset; }},
      {"padding not counted",
       [](LayoutFacts* facts) { --facts->padding_count; }},
      {"a state too small", [](LayoutFacts* facts) { --facts->state_count; }},
  };
}

TEST(LayoutCheckerTest, FindsEveryKindOfBrokenLayout) {
  const ModelLayout layout =
      LayoutOf({{.name = "a", .shape = {5000}},
                {.name = "b", .shape = {1500}, .unit = 1},
                {.name = "c", .shape = {2000}, .unit = 1}},
               /*world_size=*/2, kEverything);
  ASSERT_EQ(layout.buckets().size(), 2u) << layout.Dump();
  ASSERT_EQ(LayoutProblem(FactsOf(layout)), "");
  for (const Breakage& breakage : Breakages()) {
    LayoutFacts facts = FactsOf(layout);
    breakage.apply(&facts);
    EXPECT_NE(LayoutProblem(facts), "") << breakage.name;
  }
}

}  // namespace
}  // namespace rondo
