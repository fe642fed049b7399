#include "optimizer/examples/train_report.h"

#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace rondo {
namespace {

TrainResult SomeResult() {
  TrainResult result;
  result.ranks = 2;
  result.parameters = 10;
  result.corpus = "text";
  result.losses = {4.5, std::numeric_limits<double>::quiet_NaN()};
  result.tokens_per_s = 1000;
  result.bytes = {{20, 40, 24, 48, 8, 12}, {20, 40, 16, 32, 8, 12}};
  result.sample = "sample \xff";
  return result;
}

TEST(TrainReportTest, TableHasALinePerRankAndASum) {
  EXPECT_EQ(
      BytesTable(SomeResult()),
      "rank     parameters    gradients       master      moments      scratch"
      "        bytes      padding\n"
      "0                20           40           24           48            8"
      "          140           12\n"
      "1                20           40           16           32            8"
      "          116           12\n"
      "all              40           80           40           80           16"
      "          256           24\n");
}

TEST(TrainReportTest, JsonHoldsOptionsAndResult) {
  TrainOptions options;
  options.steps = 2;
  options.parameter_type = DataType::kBfloat16;
  const auto json =
      nlohmann::json::parse(TrainJson(options, SomeResult()), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["ranks"], 2);
  EXPECT_EQ(json["options"]["steps"], 2);
  EXPECT_EQ(json["options"]["parameter_type"], "bfloat16");
  EXPECT_EQ(json["losses"][0], 4.5);
  EXPECT_TRUE(json["losses"][1].is_null());
  EXPECT_EQ(json["tokens_per_s"], 1000);
  EXPECT_EQ(json["bytes_per_rank"][1]["master"], 16);
  EXPECT_EQ(json["bytes_per_rank"][1]["total"], 116);
  EXPECT_EQ(json["sample"], "sample \xEF\xBF\xBD");
}

}  // namespace
}  // namespace rondo
