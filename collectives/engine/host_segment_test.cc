#include "collectives/engine/host_segment.h"

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
