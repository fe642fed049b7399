#include "perf/plan/explain.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

using ::testing::HasSubstr;

TEST(ExplainTest, NamesChoiceRunnerUpAndWhatIsNotPossible) {
  const std::string text =
      ExplanationText({{HostWay::kStaged, 1.25, ""},
                       {HostWay::kRing, 30, ""},
                       {HostWay::kMapped, 0.5, "the memory is not symmetric"}});
  EXPECT_THAT(text, HasSubstr("1.25 us  the choice\n"));
  EXPECT_THAT(text, HasSubstr("30.00 us  the runner-up\n"));
  EXPECT_THAT(text, HasSubstr("not possible: the memory is not symmetric\n"));
}

}  // namespace
}  // namespace rondo::perf
