#include "collectives/engine/host_segment.h"

#include <sched.h>

#include <functional>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "transports/bootstrap/inprocess_bootstrap.h"

namespace rondo {
namespace {

// Runs `body` on every rank, each with its own bootstrap and placement.
void ForEachRank(std::vector<int> hosts,
                 const std::function<void(int rank, Bootstrap*,
                                          HostSegment::Placement&)>& body) {
  const int ranks = static_cast<int>(hosts.size());
  auto group = InProcessGroup::Create(ranks);
  ASSERT_TRUE(group.ok());
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      auto bootstrap = (*group)->Join(rank);
      ASSERT_TRUE(bootstrap.ok());
      auto placement = HostSegment::Create(bootstrap->get(), hosts,
                                           Deadline::AfterMs(20000));
      ASSERT_TRUE(placement.ok()) << placement.status().ToString();
      body(rank, bootstrap->get(), *placement);
    });
  }
}

CallHeader HeaderOf(int rank, uint64_t sequence) {
  CallHeader header;
  header.sequence = sequence;
  header.count = static_cast<uint64_t>(rank) * 1000 + sequence;
  return header;
}

TEST(HostSegmentTest, EveryLocalRankReadsWhatEveryOtherPosted) {
  ForEachRank({0, 0, 0}, [](int rank, Bootstrap* bootstrap,
                            HostSegment::Placement& placement) {
    HostSegment& segment = *placement.segment;
    EXPECT_EQ(segment.local_rank(), rank);
    EXPECT_EQ(segment.local_size(), 3);
    EXPECT_EQ(placement.warning, "");
    for (uint64_t sequence = 1; sequence < 20; ++sequence) {
      segment.Post(HeaderOf(rank, sequence));
      for (int peer = 0; peer < 3; ++peer) {
        const CallHeader* header = nullptr;
        while ((header = segment.Posted(peer, sequence)) == nullptr) {
          std::this_thread::yield();
        }
        EXPECT_EQ(header->count, HeaderOf(peer, sequence).count);
      }
    }
    EXPECT_TRUE(bootstrap->Barrier(Deadline::AfterMs(20000)).ok());
  });
}

// The threads of a test that runs on one CPU, which its ranks have to share.
class OneCpuTest : public testing::Test {
 protected:
  OneCpuTest() {
    sched_getaffinity(0, sizeof(before_), &before_);
    int cpu = 0;
    while (cpu + 1 < CPU_SETSIZE && !CPU_ISSET(cpu, &before_)) ++cpu;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
  }
  ~OneCpuTest() override { sched_setaffinity(0, sizeof(before_), &before_); }

 private:
  cpu_set_t before_;
};

// A lost wake-up lasts longer than any test may.
TEST_F(OneCpuTest, WhoSleepsIsWokenByEveryStoreOfAnother) {
  constexpr int kLongestMs = 3'600'000;
  ForEachRank({0, 0, 0}, [](int rank, Bootstrap* bootstrap,
                            HostSegment::Placement& placement) {
    HostSegment& segment = *placement.segment;
    ASSERT_TRUE(segment.may_sleep());
    for (uint64_t sequence = 1; sequence < 500; ++sequence) {
      segment.Post(HeaderOf(rank, sequence));
      for (int peer = 0; peer < 3; ++peer) {
        const auto is_there = [&] {
          return segment.Posted(peer, sequence) != nullptr;
        };
        while (!is_there()) segment.Sleep(is_there, kLongestMs);
      }
    }
    EXPECT_TRUE(bootstrap->Barrier(Deadline::AfterMs(20000)).ok());
  });
}

TEST_F(OneCpuTest, SleepEndsByItself) {
  ForEachRank({0, 0}, [](int rank, Bootstrap* bootstrap,
                         HostSegment::Placement& placement) {
    if (rank == 0) placement.segment->Sleep([] { return false; }, 1);
    EXPECT_TRUE(bootstrap->Barrier(Deadline::AfterMs(20000)).ok());
  });
}

TEST(HostSegmentTest, NothingIsPostedOrRaisedAtFirst) {
  ForEachRank({0, 0}, [](int rank, Bootstrap* bootstrap,
                         HostSegment::Placement& placement) {
    EXPECT_EQ(placement.segment->Posted(1 - rank, 1), nullptr);
    EXPECT_FALSE(placement.segment->Raised(1 - rank, kDoneFlag, 1));
    EXPECT_TRUE(bootstrap->Barrier(Deadline::AfterMs(20000)).ok());
  });
}

TEST(HostSegmentTest, AFlagIsSeenByItsReceiverOnlyAndStaysRaised) {
  ForEachRank({0, 0, 0}, [](int rank, Bootstrap* bootstrap,
                            HostSegment::Placement& placement) {
    HostSegment& segment = *placement.segment;
    if (rank == 1) segment.Raise(2, kFirstFreeFlag, 5);
    EXPECT_TRUE(bootstrap->Barrier(Deadline::AfterMs(20000)).ok());
    EXPECT_EQ(segment.Raised(1, kFirstFreeFlag, 5), rank == 2);
    EXPECT_EQ(segment.Raised(1, kFirstFreeFlag, 4), rank == 2);
    EXPECT_FALSE(segment.Raised(1, kFirstFreeFlag, 6));
    EXPECT_FALSE(segment.Raised(1, kFirstFreeFlag + 1, 5));
    EXPECT_FALSE(segment.Raised(0, kFirstFreeFlag, 5));
    EXPECT_TRUE(bootstrap->Barrier(Deadline::AfterMs(20000)).ok());
  });
}

TEST(HostSegmentTest, HostsHaveSegmentsOfTheirOwn) {
  ForEachRank({0, 1, 0}, [](int rank, Bootstrap* bootstrap,
                            HostSegment::Placement& placement) {
    EXPECT_EQ(placement.host_of_rank, (std::vector<int>{0, 1, 0}));
    EXPECT_EQ(placement.segment->local_size(), rank == 1 ? 1 : 2);
    EXPECT_EQ(placement.segment->local_rank(), rank == 2 ? 1 : 0);
    EXPECT_TRUE(bootstrap->Barrier(Deadline::AfterMs(20000)).ok());
  });
}

}  // namespace
}  // namespace rondo
