#include "optimizer/layout/model_shapes.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "optimizer/layout/model_layout.h"

namespace rondo {
namespace {

TEST(ModelShapesTest, Gpt2HasItsPublishedSize) {
  const auto parameters = Gpt2Parameters(DataType::kBfloat16);
  size_t arrays = 0;
  size_t count = 0;
  size_t decayed = 0;
  std::set<int> units;
  for (const LayoutParameter& parameter : parameters) {
    units.insert(parameter.unit);
    if (parameter.tied()) continue;
    ++arrays;
    count += parameter.count();
    EXPECT_EQ(parameter.type, DataType::kBfloat16);
    EXPECT_EQ(parameter.group, parameter.shape.size() == 2 ? 0 : 1);
    if (parameter.group == 0) decayed += parameter.count();
  }
  EXPECT_EQ(arrays, 148u);
  EXPECT_EQ(count, 124'439'808u);
  EXPECT_EQ(decayed, 124'318'464u);
  EXPECT_EQ(units.size(), 14u);
}

TEST(ModelShapesTest, Gpt2MakesADenseLayoutWithTheHeadTied) {
  const auto parameters = Gpt2Parameters(DataType::kBfloat16);
  auto layout = ModelLayout::Create(parameters, {.world_size = 2});
  ASSERT_TRUE(layout.ok()) << layout.status().ToString();
  EXPECT_EQ(layout->used_count(), 124'439'808u);
  EXPECT_GT(layout->utilization(), 0.999);
  EXPECT_EQ(parameters.back().tied_to, "wte.weight");
  EXPECT_EQ(layout->PlaceOf(static_cast<int>(parameters.size()) - 1),
            layout->PlaceOf(0));
  const LayoutBytes bytes = layout->Bytes(0, DataType::kBfloat16);
  EXPECT_EQ(bytes.parameters.used, 2 * 124'439'808u);
  EXPECT_EQ(bytes.gradients.used, 2 * 124'439'808u);
}

}  // namespace
}  // namespace rondo
