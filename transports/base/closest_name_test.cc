#include "transports/base/closest_name.h"

#include "gtest/gtest.h"

namespace rondo {
namespace {

TEST(EditDistanceTest, CountsInsertionsDeletionsAndSubstitutions) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("abc", "abc"), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("sitting", "kitten"), 3);
  EXPECT_EQ(EditDistance("RANK", "RNAK"), 2);
}

TEST(ClosestNameTest, FindsTheNearestWithinTheLimit) {
  const std::vector<std::string> names = {"RONDO_DEBUG", "RONDO_DEBUG_FILE",
                                          "RONDO_RANK"};
  EXPECT_EQ(ClosestName("RONDO_DEBGU", names, 3), "RONDO_DEBUG");
  EXPECT_EQ(ClosestName("RONDO_DEBUG_FIL", names, 3), "RONDO_DEBUG_FILE");
  EXPECT_EQ(ClosestName("RONDO_RANKS", names, 3), "RONDO_RANK");
}

TEST(ClosestNameTest, SuggestsNothingWhenNothingIsNear) {
  const std::vector<std::string> names = {"RONDO_DEBUG"};
  EXPECT_EQ(ClosestName("RONDO_COLOUR", names, 3), "");
  EXPECT_EQ(ClosestName(std::string(100'000, 'x'), names, 3), "");
  EXPECT_EQ(ClosestName("RONDO_DEBUG", {}, 3), "");
}

}  // namespace
}  // namespace rondo
