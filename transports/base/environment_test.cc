#include "transports/base/environment.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace rondo {
namespace {

TEST(EnvironmentTest, AnUnsetVariableDiffersFromAnEmptyOne) {
  const EnvironmentReader environment({{"EMPTY", ""}, {"SET", "a=b"}});
  EXPECT_EQ(environment.Get("SET"), "a=b");
  EXPECT_EQ(environment.Get("EMPTY"), "");
  EXPECT_EQ(environment.Get("ABSENT"), std::nullopt);
  EXPECT_TRUE(EnvironmentReader().variables().empty());
}

TEST(EnvironmentTest, TheProcessSnapshotDoesNotFollowLaterChanges) {
  ASSERT_EQ(setenv("RONDO_TEST_VARIABLE", "one=1", 1), 0);
  const EnvironmentReader before = EnvironmentReader::FromProcess();
  ASSERT_EQ(unsetenv("RONDO_TEST_VARIABLE"), 0);
  EXPECT_EQ(before.Get("RONDO_TEST_VARIABLE"), "one=1");
  EXPECT_EQ(EnvironmentReader::FromProcess().Get("RONDO_TEST_VARIABLE"),
            std::nullopt);
}

}  // namespace
}  // namespace rondo
