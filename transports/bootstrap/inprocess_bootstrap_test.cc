#include "transports/bootstrap/inprocess_bootstrap.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace rondo {
namespace {

Deadline Patience() { return Deadline::AfterMs(20000); }

struct Group {
  explicit Group(int world_size) : hub(*InProcessGroup::Create(world_size)) {
    for (int rank = 0; rank < world_size; ++rank) {
      ranks.push_back(*hub->Join(rank));
    }
  }
  void OnEachThread(const std::function<void(int)>& body) {
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      threads.emplace_back(body, static_cast<int>(rank));
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::shared_ptr<InProcessGroup> hub;
  std::vector<std::unique_ptr<Bootstrap>> ranks;
};

TEST(InProcessBootstrapTest, AllGatherGivesEveryRankEveryBlob) {
  Group group(5);
  group.OnEachThread([&](int rank) {
    for (int round = 0; round < 100; ++round) {
      const auto all = group.ranks[rank]->AllGather(
          std::string(rank * round, 'x'), Patience());
      ASSERT_TRUE(all.ok()) << all.status().ToString();
      for (size_t other = 0; other < 5; ++other) {
        EXPECT_EQ((*all)[other].size(), other * round);
      }
      EXPECT_TRUE(group.ranks[rank]->Barrier(Patience()).ok());
    }
  });
}

TEST(InProcessBootstrapTest, DeadlineNamesAbsentRanks) {
  auto hub = *InProcessGroup::Create(3);
  auto caller = *hub->Join(1);
  auto idle = *hub->Join(2);
  const Status met = caller->Barrier(Deadline::AfterMs(10));
  EXPECT_EQ(met.code(), Code::kTimeout);
  EXPECT_NE(met.message().find("have not joined: rank 0"), std::string::npos)
      << met.ToString();
  EXPECT_NE(met.message().find("not called it: rank 2"), std::string::npos);
}

TEST(InProcessBootstrapTest, KilledRankFailsAllAndEndsTheirCalls) {
  Group group(3);
  group.OnEachThread([&](int rank) {
    if (rank == 2) {
      EXPECT_TRUE(group.hub->Kill(2).ok());
      return;
    }
    const Status met = group.ranks[rank]->Barrier(Patience());
    EXPECT_EQ(met.code(), Code::kRemoteDead);
    EXPECT_EQ(met.message(), "rank 2 died: it was killed");
  });
  for (const auto& rank : group.ranks) EXPECT_TRUE(rank->failed());
}

TEST(InProcessBootstrapTest, FirstReportWins) {
  Group group(3);
  group.ranks[1]->Report(Status(Code::kSystem, "first"));
  group.ranks[0]->Report(Status(Code::kSystem, "second"));
  EXPECT_EQ(group.ranks[0]->failure().message(), "rank 1 reported: first");
  EXPECT_EQ(group.ranks[1]->failure().message(), "first");
  EXPECT_EQ(group.ranks[2]->failure().message(), "rank 1 reported: first");
}

TEST(InProcessBootstrapTest, GoodbyeIsNoFailure) {
  Group group(2);
  group.ranks[1].reset();
  EXPECT_FALSE(group.ranks[0]->failed());
  const Status met = group.ranks[0]->Barrier(Patience());
  EXPECT_EQ(met.code(), Code::kRemoteDead);
  EXPECT_FALSE(group.ranks[0]->failed());
}

TEST(InProcessBootstrapTest, RankIsTakenOnceAndATwinHurtsNobody) {
  Group group(2);
  EXPECT_FALSE(group.hub->Join(1).ok());
  EXPECT_FALSE(group.hub->Join(2).ok());
  EXPECT_FALSE(group.hub->Kill(7).ok());
  EXPECT_FALSE(InProcessGroup::Create(0).ok());
  group.OnEachThread([&](int rank) {
    EXPECT_TRUE(group.ranks[rank]->Barrier(Patience()).ok());
  });
}

}  // namespace
}  // namespace rondo
