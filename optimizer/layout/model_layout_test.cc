#include "optimizer/layout/model_layout.h"

#include <limits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "optimizer/layout/layout_checker.h"

namespace rondo {
namespace {

constexpr size_t kEverything = std::numeric_limits<size_t>::max();
constexpr DataType kHalf = DataType::kFloat16;
constexpr DataType kBfloat16 = DataType::kBfloat16;

ModelLayout LayoutOf(std::vector<LayoutParameter> parameters,
                     LayoutOptions options) {
  auto layout = ModelLayout::Create(std::move(parameters), options);
  EXPECT_TRUE(layout.ok()) << layout.status().ToString();
  if (!layout.ok()) return ModelLayout();
  EXPECT_EQ(LayoutProblem(FactsOf(*layout)), "");
  return *layout;
}

TEST(ModelLayoutTest, BucketsAreInReverseOrderOfUse) {
  const ModelLayout layout = LayoutOf(
      {{.name = "first", .shape = {1024}}, {.name = "last", .shape = {2, 600}}},
      {1, kEverything});
  ASSERT_EQ(layout.buckets().size(), 1u);
  EXPECT_EQ(layout.buckets()[0].pieces,
            (std::vector<LayoutPiece>{{1, 0, 1200, 0}, {0, 0, 1024, 2048}}));
  EXPECT_EQ(layout.buckets()[0].count, 3072u);
  EXPECT_EQ(layout.padding_count(), 848u);
  EXPECT_DOUBLE_EQ(layout.utilization(), 2224.0 / 3072);
}

TEST(ModelLayoutTest, TypeUnitAndFrozenCloseABucket) {
  const ModelLayout layout =
      LayoutOf({{.name = "a", .shape = {1}},
                {.name = "b", .shape = {1}, .frozen = true},
                {.name = "c", .shape = {1}, .unit = 1},
                {.name = "d", .shape = {1}, .type = kHalf, .unit = 1},
                {.name = "e", .shape = {1}, .type = kHalf, .unit = 1}},
               {2, kEverything});
  ASSERT_EQ(layout.buckets().size(), 4u) << layout.Dump();
  EXPECT_EQ(layout.buckets()[0].pieces.size(), 2u);
  EXPECT_EQ(layout.buckets()[0].type, kHalf);
  EXPECT_EQ(layout.buckets()[1].unit, 1);
  EXPECT_TRUE(layout.buckets()[2].frozen);
  EXPECT_EQ(layout.buckets()[2].gradient_offset, kNoOffset);
  EXPECT_EQ(layout.buckets()[2].state_offset, kNoOffset);
  // The frozen bucket has parameter bytes, but nothing else.
  EXPECT_EQ(layout.buckets()[3].gradient_offset, 4096u);
  EXPECT_EQ(layout.buckets()[3].state_offset, 2048u);
  EXPECT_EQ(layout.buckets()[3].parameter_offset_bytes, 4096u + 8192 + 8192);
  EXPECT_EQ(layout.ShardPieces(2, 0),
            (std::vector<ShardPiece>{{1, 0, 1, 0, kNoOffset}}));
}

TEST(ModelLayoutTest, LargeParametersGoOnInTheNextBucket) {
  const ModelLayout layout =
      LayoutOf({{.name = "a", .shape = {5000}}, {.name = "b", .shape = {100}}},
               {2, /*bucket_count_target=*/2049});
  ASSERT_EQ(layout.buckets().size(), 2u) << layout.Dump();
  EXPECT_EQ(layout.buckets()[0].count, 4096u);
  EXPECT_EQ(layout.buckets()[0].pieces,
            (std::vector<LayoutPiece>{{1, 0, 100, 0}, {0, 0, 3072, 1024}}));
  EXPECT_EQ(layout.buckets()[1].pieces,
            (std::vector<LayoutPiece>{{0, 3072, 1928, 0}}));
  EXPECT_EQ(layout.buckets()[1].count, 2048u);
  EXPECT_EQ(layout.PiecesOf(0),
            (std::vector<PlacedPiece>{{0, 0, 3072, 1024, 1024, 4096},
                                      {1, 3072, 1928, 0, 4096, 16384}}));
  EXPECT_EQ(layout.PlaceOf(0), (PlacedPiece{0, 0, 5000, 1024, 1024, 4096}));
}

TEST(ModelLayoutTest, TheSmallestBucketIsOneTileForEveryRank) {
  const ModelLayout layout = LayoutOf({{.name = "a", .shape = {4097}}}, {4, 1});
  ASSERT_EQ(layout.buckets().size(), 2u);
  EXPECT_EQ(layout.buckets()[0].count, 4096u);
  EXPECT_EQ(layout.buckets()[1].count, 4096u);
  EXPECT_EQ(layout.buckets()[1].used_count, 1u);
}

TEST(ModelLayoutTest, NoGapWhenTilesOfAllRanksEndInTheMiddleOfAPage) {
  const ModelLayout layout =
      LayoutOf({{.name = "a", .shape = {9000}, .type = kBfloat16}}, {3, 1024});
  ASSERT_EQ(layout.buckets().size(), 2u);
  EXPECT_EQ(layout.buckets()[0].count, 6144u);  // two tiles for every rank
  EXPECT_EQ(layout.buckets()[1].count, 3072u);  // one is padded for as ever
  EXPECT_EQ(layout.buckets()[1].parameter_offset_bytes, 2 * 6144u);
  EXPECT_EQ(layout.parameter_bytes(), 2 * 6144u + 8192);
}

TEST(ModelLayoutTest, TiedParametersLieWhereTheFirstUseLies) {
  const ModelLayout layout = LayoutOf(
      {{.name = "embedding", .shape = {40, 60}},
       {.name = "middle", .shape = {10}, .unit = 1},
       {.name = "head", .shape = {40, 60}, .unit = 2, .tied_to = "embedding"}},
      {2, kEverything});
  ASSERT_EQ(layout.buckets().size(), 2u);
  EXPECT_EQ(layout.buckets()[0].pieces[0].parameter, 1);
  EXPECT_EQ(layout.PiecesOf(2), layout.PiecesOf(0));
  EXPECT_EQ(layout.PlaceOf(2), layout.PlaceOf(0));
  EXPECT_EQ(layout.StorageOf(2), 0);
  EXPECT_EQ(layout.used_count(), 2410u);
}

TEST(ModelLayoutTest, ShardsCutParametersAtTiles) {
  const ModelLayout layout =
      LayoutOf({{.name = "a", .shape = {3000}}, {.name = "b", .shape = {500}}},
               {3, kEverything});
  EXPECT_EQ(
      layout.ShardPieces(0, 0),
      (std::vector<ShardPiece>{{1, 0, 500, 0, 0}, {0, 0, 1024, 1024, 1024}}));
  EXPECT_EQ(layout.ShardPieces(0, 1),
            (std::vector<ShardPiece>{{0, 1024, 1976, 2048, 0}}));
  EXPECT_TRUE(layout.ShardPieces(0, 2).empty());
  EXPECT_EQ(layout.state_count(), 2048u);
}

TEST(ModelLayoutTest, ScalarsEmptyArraysAndEmptyModelsAreLayouts) {
  const ModelLayout layout =
      LayoutOf({{.name = "none", .shape = {3, 0, kEverything}, .unit = 0},
                {.name = "scalar", .shape = {}, .unit = 1},
                {.name = "also none", .shape = {0}, .unit = 2, .frozen = true}},
               {8, 1});
  ASSERT_EQ(layout.buckets().size(), 1u);
  EXPECT_EQ(layout.used_count(), 1u);
  EXPECT_TRUE(layout.PiecesOf(0).empty());
  EXPECT_EQ(layout.PlaceOf(0).gradient_offset, kNoOffset);
  EXPECT_EQ(layout.PlaceOf(0).parameter_offset_bytes, kNoOffset);
  EXPECT_EQ(layout.PlaceOf(1).count, 1u);

  const ModelLayout empty = LayoutOf({}, {2, 1});
  EXPECT_EQ(empty.gradient_count() + empty.parameter_bytes(), 0u);
  EXPECT_EQ(empty.utilization(), 1);
}

TEST(ModelLayoutTest, BytesFollowTheFormulasWithPaddingApart) {
  // 7168 elements are trained, 1000 are not; all fill their tiles but those.
  const ModelLayout layout = LayoutOf(
      {{.name = "frozen", .shape = {1000}, .type = kBfloat16, .frozen = true},
       {.name = "a", .shape = {6, 1024}, .type = kBfloat16},
       {.name = "b", .shape = {1024}, .type = kBfloat16},
       {.name = "again", .shape = {1024}, .type = kBfloat16, .tied_to = "b"}},
      {2, kEverything});
  const LayoutBytes bytes = layout.Bytes(0, DataType::kFloat32);
  EXPECT_EQ(bytes.parameters, (ClassBytes{2 * 8168, 2 * 2072}));
  EXPECT_EQ(bytes.gradients, (ClassBytes{4 * 7168, 4 * 1024}));
  EXPECT_EQ(bytes.master, (ClassBytes{4 * 4096, 0}));
  EXPECT_EQ(bytes.moments, (ClassBytes{8 * 4096, 0}));
  const LayoutBytes last =
      layout.Bytes(1, kHalf, {.master = false, .moments = 1});
  EXPECT_EQ(last.gradients, (ClassBytes{2 * 7168, 2 * 1024}));
  EXPECT_EQ(last.master, (ClassBytes{0, 0}));
  EXPECT_EQ(last.moments, (ClassBytes{4 * 3072, 4 * 1024}));
  EXPECT_EQ(last.total(), 2 * 10240u + 2 * 8192 + 4 * 4096);
}

TEST(ModelLayoutTest, DumpShowsBucketsPiecesAndTotals) {
  const ModelLayout layout = LayoutOf(
      {{.name = "embedding", .shape = {1500}},
       {.name = "norm", .shape = {10}, .group = 1, .unit = 1, .frozen = true},
       {.name = "none", .shape = {0}, .unit = 1},
       {.name = "head", .shape = {1500}, .unit = 1, .tied_to = "embedding"}},
      {2, 4096});
  EXPECT_EQ(
      layout.Dump(),
      "4 parameters, 2 ranks, 2 buckets, target 4096 elements\n"
      "bucket 0: float, unit 1, 2048 elements, 2038 of them padding, 1024 a "
      "rank; parameters from byte 0, frozen\n"
      "  0: norm[0..10), group 1\n"
      "bucket 1: float, unit 0, 2048 elements, 548 of them padding, 1024 a "
      "rank; parameters from byte 8192, gradient from 0, state from 0\n"
      "  0: embedding[0..1500), group 0\n"
      "none has no elements\n"
      "head is tied to embedding\n"
      "total: 1510 elements used, 2586 of padding, utilization 36.87 %; 16384 "
      "bytes of parameters, 2048 gradients, 1024 of each state array a rank\n");
}

std::vector<LayoutParameter> HashedModel() {
  return {{.name = "a", .shape = {2, 3}},
          {.name = "b", .shape = {2, 3}, .unit = 1}};
}

TEST(ModelLayoutTest, HashesTellEveryDifferenceThatMatters) {
  const ModelLayout layout = LayoutOf(HashedModel(), {2, 4096});
  EXPECT_EQ(LayoutOf(HashedModel(), {2, 4096}).Hash(), layout.Hash());
  EXPECT_EQ(LayoutOf(HashedModel(), {2, 4095}).Hash(), layout.Hash())
      << "the target is rounded up to the same";
  EXPECT_NE(LayoutOf(HashedModel(), {2, 4097}).Hash(), layout.Hash());
  EXPECT_NE(LayoutOf(HashedModel(), {4, 4096}).Hash(), layout.Hash());

  using Change = void (*)(LayoutParameter*);
  const Change changes[] = {[](LayoutParameter* it) { it->name = "c"; },
                            [](LayoutParameter* it) {
                              it->shape = {3, 2};
                            },
                            [](LayoutParameter* it) {
                              it->shape = {2, 3, 1};
                            },
                            [](LayoutParameter* it) { it->type = kHalf; },
                            [](LayoutParameter* it) { it->group = 1; },
                            [](LayoutParameter* it) { it->unit = 2; },
                            [](LayoutParameter* it) { it->frozen = true; },
                            [](LayoutParameter* it) { it->tied_to = "a"; }};
  for (const Change change : changes) {
    std::vector<LayoutParameter> parameters = HashedModel();
    change(&parameters[1]);
    const ModelLayout changed = LayoutOf(parameters, {2, 4096});
    EXPECT_NE(changed.Hash(), layout.Hash()) << changed.Dump();
    EXPECT_EQ(changed.ParameterHash(0), layout.ParameterHash(0));
    EXPECT_NE(changed.ParameterHash(1), layout.ParameterHash(1));
  }
}

}  // namespace
}  // namespace rondo
