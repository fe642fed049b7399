// Every refusal names the parameter, the value and what is accepted.
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "optimizer/layout/model_layout.h"

namespace rondo {
namespace {

constexpr size_t kHuge = std::numeric_limits<size_t>::max();

// The message with which a layout is refused; empty when it is accepted.
std::string RefusalOf(std::vector<LayoutParameter> parameters,
                      LayoutOptions options = {}) {
  const auto layout = ModelLayout::Create(std::move(parameters), options);
  if (layout.ok()) return "";
  EXPECT_EQ(layout.status().code(), Code::kInvalidArgument);
  return layout.status().message();
}

TEST(ModelLayoutErrorsTest, OptionsOutOfRange) {
  EXPECT_EQ(RefusalOf({}, {.world_size = 0}),
            "world size 0: at least 1 is needed");
  EXPECT_EQ(RefusalOf({}, {.world_size = -3}),
            "world size -3: at least 1 is needed");
  EXPECT_EQ(RefusalOf({}, {.bucket_count_target = 0}),
            "bucket target 0: at least 1 element is needed");
}

TEST(ModelLayoutErrorsTest, NamesThatAreMissingOrTaken) {
  EXPECT_EQ(RefusalOf({{.name = "w"}, {.name = ""}}),
            "parameter 1 has no name: each needs one of its own");
  EXPECT_EQ(RefusalOf({{.name = "w"}, {.name = "b"}, {.name = "w"}}),
            "parameter 2 is called 'w' like parameter 0: each needs a name of "
            "its own");
}

TEST(ModelLayoutErrorsTest, TypesThatAreNoModelWeights) {
  for (const DataType type : AllDataTypes()) {
    const bool accepted = type == DataType::kFloat16 ||
                          type == DataType::kBfloat16 ||
                          type == DataType::kFloat32;
    EXPECT_EQ(RefusalOf({{.name = "w", .type = type}}).empty(), accepted)
        << DataTypeName(type);
  }
  EXPECT_EQ(RefusalOf({{.name = "w", .type = DataType::kInt32}}),
            "parameter 'w' has type int32 (number 2): half, bfloat16 and float "
            "are accepted");
  EXPECT_EQ(RefusalOf({{.name = "w", .type = static_cast<DataType>(77)}}),
            "parameter 'w' has type unknown (number 77): half, bfloat16 and "
            "float are accepted");
}

TEST(ModelLayoutErrorsTest, GroupsAndUnitsOutOfOrder) {
  EXPECT_EQ(RefusalOf({{.name = "w", .group = -1}}),
            "parameter 'w' is in group -1: groups begin with 0");
  EXPECT_EQ(RefusalOf({{.name = "w", .unit = -2}}),
            "parameter 'w' is in unit -2: units begin with 0");
  EXPECT_EQ(RefusalOf({{.name = "w", .unit = 3}, {.name = "b", .unit = 2}}),
            "parameter 'b' is in unit 2, after 'w' in unit 3: parameters are "
            "given in the order of use, in which units do not decrease");
}

TEST(ModelLayoutErrorsTest, TiesToNothingLaterOrTied) {
  EXPECT_EQ(RefusalOf({{.name = "head", .tied_to = "wte"}}),
            "parameter 'head' is tied to 'wte', which does not exist: it may "
            "be tied to a parameter that is given before it");
  EXPECT_EQ(RefusalOf({{.name = "head", .tied_to = "wte"}, {.name = "wte"}}),
            "parameter 'head' is tied to 'wte', which does not come before it: "
            "it may be tied to a parameter that is given before it");
  EXPECT_EQ(RefusalOf({{.name = "w", .tied_to = "w"}}),
            "parameter 'w' is tied to 'w', which does not come before it: it "
            "may be tied to a parameter that is given before it");
  EXPECT_EQ(RefusalOf({{.name = "a"},
                       {.name = "b", .tied_to = "a"},
                       {.name = "c", .tied_to = "b"}}),
            "parameter 'c' is tied to 'b', which is itself tied to 'a': tie it "
            "to that one");
}

TEST(ModelLayoutErrorsTest, TiesBetweenDifferentParameters) {
  const LayoutParameter original = {.name = "a", .shape = {2, 3}, .group = 1};
  LayoutParameter tied = original;
  tied.name = "b";
  tied.tied_to = "a";
  ASSERT_EQ(RefusalOf({original, tied}), "");

  LayoutParameter other = tied;
  other.shape = {3, 2};
  EXPECT_EQ(RefusalOf({original, other}),
            "parameter 'b' is tied to 'a' but has shape [3, 2] where that has "
            "[2, 3]: tied parameters share one storage and need the same "
            "shape");
  other = tied;
  other.type = DataType::kBfloat16;
  EXPECT_NE(RefusalOf({original, other})
                .find("type bfloat16 where that has "
                      "float"),
            std::string::npos);
  other = tied;
  other.group = 0;
  EXPECT_NE(RefusalOf({original, other}).find("group 0 where that has 1"),
            std::string::npos);
  other = tied;
  other.frozen = true;
  EXPECT_NE(RefusalOf({original, other})
                .find("frozen true where that has "
                      "false"),
            std::string::npos);
}

TEST(ModelLayoutErrorsTest, SizesThatOverflow) {
  EXPECT_EQ(RefusalOf({{.name = "w", .shape = {kHuge, 3}}}),
            "parameter 'w' of shape [18446744073709551615, 3] is too large: at "
            "most 72057594037927936 elements are accepted");
  const size_t half = kMaxLayoutElements / 2;
  const LayoutOptions one_bucket = {.bucket_count_target = kHuge};
  EXPECT_EQ(RefusalOf({{.name = "a", .shape = {half}},
                       {.name = "b", .shape = {half}}},
                      one_bucket),
            "");
  EXPECT_EQ(RefusalOf({{.name = "a", .shape = {half + 1}},
                       {.name = "b", .shape = {half}}},
                      one_bucket),
            "parameter 'a' and those used after it need 72057594037928960 "
            "elements with padding: at most 72057594037927936 are accepted");
}

TEST(ModelLayoutErrorsTest, BucketsTooSmallForTheModel) {
  const size_t most = kMaxLayoutBuckets * kTileElements;
  EXPECT_EQ(
      RefusalOf({{.name = "w", .shape = {most}}}, {.bucket_count_target = 1}),
      "");
  EXPECT_EQ(RefusalOf({{.name = "w", .shape = {most + 1}}},
                      {.bucket_count_target = 1}),
            "parameter 'w' needs bucket number 1048577: at most 1048576 are "
            "accepted; raise the bucket target, which is 1");
}

}  // namespace
}  // namespace rondo
