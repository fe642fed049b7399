#include "transports/bootstrap/rank_list.h"

#include <gtest/gtest.h>

namespace rondo {
namespace {

TEST(RankListTest, ReadsAsPeopleWrite) {
  EXPECT_EQ(FormatRanks({}), "no rank");
  EXPECT_EQ(FormatRanks({7}), "rank 7");
  EXPECT_EQ(FormatRanks({1, 2}), "ranks 1 and 2");
  EXPECT_EQ(FormatRanks({1, 2, 3}), "ranks 1-3");
  EXPECT_EQ(FormatRanks({0, 2, 3, 4, 9}), "ranks 0, 2-4 and 9");
}

TEST(RankListTest, LongListsAreCutAndCounted) {
  std::vector<int> even;
  for (int rank = 0; rank < 200; rank += 2) even.push_back(rank);
  const std::string text = FormatRanks(even);
  EXPECT_EQ(text.substr(0, 16), "ranks 0, 2, 4, 6");
  EXPECT_EQ(text.substr(text.find("30")), "30, ... (84 more)");
}

}  // namespace
}  // namespace rondo
