#include "transports/fault/fault_plan.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

TEST(FaultPlanTest, NothingIsAnEmptyPlan) {
  auto plan = ParseFaultPlan("");
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->empty());
}

TEST(FaultPlanTest, EveryKindIsReadWithItsArgument) {
  auto plan = ParseFaultPlan(
      "corrupt:1:0.5,delay:2:300,drop:18446744073709551615:1,reorder:4:70,"
      "die:5:6");
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_FALSE(plan->empty());
  EXPECT_EQ(plan->corrupt->seed, 1u);
  EXPECT_EQ(plan->corrupt->rate, 0.5);
  EXPECT_EQ(plan->delay->seed, 2u);
  EXPECT_EQ(plan->delay->max_us, 300);
  EXPECT_EQ(plan->drop->seed, 18446744073709551615u);
  EXPECT_EQ(plan->drop->rate, 1.0);
  EXPECT_EQ(plan->reorder->max_us, 70);
  EXPECT_EQ(plan->die->rank, 5u);
  EXPECT_EQ(plan->die->messages, 6);
}

TEST(FaultPlanTest, ArgumentsHaveDefaults) {
  auto plan = ParseFaultPlan("corrupt:1,delay:2");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->corrupt->rate, 0.25);
  EXPECT_EQ(plan->delay->max_us, 500);
  EXPECT_FALSE(plan->drop || plan->reorder || plan->die);
}

TEST(FaultPlanTest, RefusalsNameTheTokenAndWhatIsAccepted) {
  struct Case {
    const char* text;
    const char* token;
    const char* why;
  };
  for (const Case& bad : {
           Case{"corrupt", "\"corrupt\"", "seed is missing"},
           Case{"corrupt:", "\"corrupt:\"", "\"\" is not a seed"},
           Case{"corrupt:x", "\"corrupt:x\"", "\"x\" is not a seed"},
           Case{"corrupt:-1", "\"corrupt:-1\"", "\"-1\" is not a seed"},
           Case{"corrupt:1:0", "\"corrupt:1:0\"", "not a rate"},
           Case{"corrupt:1:1.5", "\"corrupt:1:1.5\"", "not a rate"},
           Case{"corrupt:1:nan", "\"corrupt:1:nan\"", "not a rate"},
           Case{"drop:1:", "\"drop:1:\"", "not a rate"},
           Case{"drop:1:0.5:2", "\"drop:1:0.5:2\"", "not a rate"},
           Case{"delay:1:0", "\"delay:1:0\"", "1 to 60000000"},
           Case{"reorder:1:99999999999", "reorder", "1 to 60000000"},
           Case{"die:1:-5", "\"die:1:-5\"", "number of messages"},
           Case{"explode:1", "\"explode:1\"", "\"explode\" is not a kind"},
           Case{"corrupt:1,,drop:1", "\"\"", "seed is missing"},
           Case{"corrupt:1,", "\"\"", "seed is missing"},
           Case{"delay:1,delay:2", "\"delay:2\"", "given twice"},
       }) {
    auto plan = ParseFaultPlan(bad.text);
    ASSERT_FALSE(plan.ok()) << bad.text;
    EXPECT_EQ(plan.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(plan.status().message(), HasSubstr(bad.token));
    EXPECT_THAT(plan.status().message(), HasSubstr(bad.why));
    EXPECT_THAT(plan.status().message(), HasSubstr("corrupt:SEED[:RATE]"));
  }
}

}  // namespace
}  // namespace rondo
