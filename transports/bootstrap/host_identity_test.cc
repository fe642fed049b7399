#include "transports/bootstrap/host_identity.h"

#include <gtest/gtest.h>

namespace rondo {
namespace {

TEST(HostIdentityTest, IsTheSameTwiceAndCanBeOverridden) {
  const auto identity = HostIdentity("");
  ASSERT_TRUE(identity.ok()) << identity.status().ToString();
  EXPECT_EQ(*identity, *HostIdentity(""));
  EXPECT_NE(identity->find("pid:["), std::string::npos);
  EXPECT_EQ(*HostIdentity("rack 3"), "rack 3");
}

TEST(HostIdentityTest, GroupsByFirstAppearance) {
  const HostGroups groups = GroupByHost({"b", "a", "b", "c", "a", "b"});
  EXPECT_EQ(groups.hosts, 3);
  EXPECT_EQ(groups.host, (std::vector<int>{0, 1, 0, 2, 1, 0}));
  EXPECT_EQ(groups.local_rank, (std::vector<int>{0, 0, 1, 0, 1, 2}));
  EXPECT_EQ(groups.local_size, (std::vector<int>{3, 2, 3, 1, 2, 3}));
  EXPECT_EQ(GroupByHost({}).hosts, 0);
}

}  // namespace
}  // namespace rondo
