#include "transports/bootstrap/tcp_bootstrap.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "transports/bootstrap/coordinator.h"

namespace rondo {
namespace {

using std::chrono::milliseconds;

constexpr int kPatienceMs = 20000;

CoordinatorOptions OnLoopback() {
  CoordinatorOptions options;
  options.socket_ifname = "lo";
  return options;
}

std::unique_ptr<Coordinator> StartCoordinator(
    const CoordinatorOptions& options = OnLoopback()) {
  auto coordinator = Coordinator::Start(options);
  EXPECT_TRUE(coordinator.ok()) << coordinator.status().ToString();
  return *std::move(coordinator);
}

std::unique_ptr<Bootstrap> Join(const UniqueId& id, int rank, int world_size) {
  auto bootstrap = JoinTcp(id, rank, world_size, {});
  EXPECT_TRUE(bootstrap.ok()) << bootstrap.status().ToString();
  return *std::move(bootstrap);
}

std::vector<std::unique_ptr<Bootstrap>> JoinAll(const UniqueId& id,
                                                int world_size) {
  std::vector<std::unique_ptr<Bootstrap>> ranks;
  for (int rank = 0; rank < world_size; ++rank) {
    ranks.push_back(Join(id, rank, world_size));
  }
  return ranks;
}

void OnEachThread(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

bool WaitForFailure(const Bootstrap& bootstrap) {
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  while (!bootstrap.failed() && !deadline.expired()) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  return bootstrap.failed();
}

bool Contains(const Status& status, const std::string& text) {
  return status.message().find(text) != std::string::npos;
}

// Rank r's blob in round i: sizes differ by rank and include empty ones.
std::string Blob(int rank, int round) {
  return std::string(static_cast<size_t>(rank * 1000 * round),
                     static_cast<char>('a' + rank));
}

TEST(TcpBootstrapTest, AllGatherGivesEveryRankEveryBlob) {
  for (int world_size : {1, 2, 5}) {
    auto coordinator = StartCoordinator();
    auto ranks = JoinAll(coordinator->unique_id(), world_size);
    OnEachThread(world_size, [&](int rank) {
      for (int round = 0; round < 20; ++round) {
        const auto all = ranks[rank]->AllGather(Blob(rank, round),
                                                Deadline::AfterMs(kPatienceMs));
        ASSERT_TRUE(all.ok()) << all.status().ToString();
        ASSERT_EQ(all->size(), static_cast<size_t>(world_size));
        for (int other = 0; other < world_size; ++other) {
          EXPECT_EQ((*all)[other], Blob(other, round));
        }
        EXPECT_TRUE(ranks[rank]->Barrier(Deadline::AfterMs(kPatienceMs)).ok());
      }
      EXPECT_FALSE(ranks[rank]->failed());
    });
  }
}

TEST(TcpBootstrapTest, LargestBlobPassesAndALargerOneIsRefused) {
  auto coordinator = StartCoordinator();
  auto ranks = JoinAll(coordinator->unique_id(), 3);
  OnEachThread(3, [&](int rank) {
    const std::string blob(Bootstrap::kMaxBlobBytes,
                           static_cast<char>('0' + rank));
    const auto refused =
        ranks[rank]->AllGather(blob + "x", Deadline::AfterMs(kPatienceMs));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), Code::kInvalidArgument);
    const auto all =
        ranks[rank]->AllGather(blob, Deadline::AfterMs(kPatienceMs));
    ASSERT_TRUE(all.ok()) << all.status().ToString();
    for (int other = 0; other < 3; ++other) {
      EXPECT_EQ((*all)[other], std::string(Bootstrap::kMaxBlobBytes,
                                           static_cast<char>('0' + other)));
    }
  });
}

TEST(TcpBootstrapTest, DeadlineNamesAbsentRanks) {
  auto coordinator = StartCoordinator();
  const UniqueId id = coordinator->unique_id();
  auto caller = Join(id, 0, 5);
  auto idle = Join(id, 3, 5);
  const auto all = caller->AllGather("x", Deadline::AfterMs(50));
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.status().code(), Code::kTimeout);
  EXPECT_TRUE(Contains(all.status(), "have not joined: ranks 1, 2 and 4"))
      << all.status().ToString();
  EXPECT_TRUE(Contains(all.status(), "not called it: rank 3"))
      << all.status().ToString();
  // Its part is spent: a second call would not match the others' calls.
  const Status again = caller->Barrier(Deadline::AfterMs(50));
  EXPECT_EQ(again.code(), Code::kInvalidUsage);
  EXPECT_FALSE(caller->failed());
}

TEST(TcpBootstrapTest, LateJoinerCompletesTheCall) {
  auto coordinator = StartCoordinator();
  const UniqueId id = coordinator->unique_id();
  OnEachThread(2, [&](int rank) {
    if (rank == 1) std::this_thread::sleep_for(milliseconds(200));
    auto bootstrap = Join(id, rank, 2);
    const Status met = bootstrap->Barrier(Deadline::AfterMs(kPatienceMs));
    EXPECT_TRUE(met.ok()) << met.ToString();
  });
}

TEST(TcpBootstrapTest, CoordinatorMayStartAfterTheRanks) {
  // A port that was free a moment ago, and nobody listens there now.
  const UniqueId id = StartCoordinator()->unique_id();
  std::unique_ptr<Coordinator> coordinator;
  OnEachThread(3, [&](int rank) {
    if (rank == 2) {
      std::this_thread::sleep_for(milliseconds(150));
      auto started = Coordinator::StartAt(id, {});
      ASSERT_TRUE(started.ok()) << started.status().ToString();
      coordinator = *std::move(started);
      return;
    }
    auto bootstrap = Join(id, rank, 2);
    EXPECT_TRUE(bootstrap->Barrier(Deadline::AfterMs(kPatienceMs)).ok());
  });
}

TEST(TcpBootstrapTest, NobodyListeningIsATimeoutThatNamesTheAddress) {
  const UniqueId id = StartCoordinator()->unique_id();
  TcpOptions options;
  options.join_timeout_ms = 100;
  const auto joined = JoinTcp(id, 1, 2, options);
  ASSERT_FALSE(joined.ok());
  EXPECT_EQ(joined.status().code(), Code::kTimeout);
  EXPECT_TRUE(Contains(joined.status(), "rank 1"))
      << joined.status().ToString();
  EXPECT_TRUE(Contains(joined.status(), id.address().ToString()));
  EXPECT_TRUE(Contains(joined.status(), "refused"));
}

TEST(TcpBootstrapTest, WrongSecretIsRefusedAtOnce) {
  auto coordinator = StartCoordinator();
  const UniqueId forged = *UniqueId::Create(coordinator->unique_id().address());
  const auto joined = JoinTcp(forged, 0, 2, {});
  ASSERT_FALSE(joined.ok());
  EXPECT_EQ(joined.status().code(), Code::kInvalidUsage);
  EXPECT_TRUE(Contains(joined.status(), "another secret"));
  EXPECT_EQ(coordinator->stats().wrong_secret, 1u);
  EXPECT_EQ(coordinator->joined(), 0);
}

TEST(TcpBootstrapTest, DuplicateRankAndWrongWorldSizeAreRefused) {
  auto coordinator = StartCoordinator();
  const UniqueId id = coordinator->unique_id();
  auto first = Join(id, 0, 2);
  const auto twin = JoinTcp(id, 0, 2, {});
  ASSERT_FALSE(twin.ok());
  EXPECT_TRUE(Contains(twin.status(), "rank 0 has already joined"));
  const auto stranger = JoinTcp(id, 1, 3, {});
  ASSERT_FALSE(stranger.ok());
  EXPECT_EQ(stranger.status().code(), Code::kMismatch);
  EXPECT_TRUE(Contains(stranger.status(), "3")) << stranger.status().ToString();
  EXPECT_TRUE(Contains(stranger.status(), "expects 2"));
  EXPECT_EQ(coordinator->stats().refused, 2u);
  // The first one is not hurt.
  auto second = Join(id, 1, 2);
  OnEachThread(2, [&](int rank) {
    Bootstrap& mine = rank == 0 ? *first : *second;
    EXPECT_TRUE(mine.Barrier(Deadline::AfterMs(kPatienceMs)).ok());
  });
}

TEST(TcpBootstrapTest, FirstReportReachesEveryRankAndStays) {
  auto coordinator = StartCoordinator();
  auto ranks = JoinAll(coordinator->unique_id(), 3);
  ranks[1]->Report(Status(Code::kMismatch, "count 8 where 9 was due"));
  for (auto& rank : ranks) ASSERT_TRUE(WaitForFailure(*rank));
  ranks[2]->Report(Status(Code::kInternal, "too late"));
  EXPECT_EQ(ranks[1]->failure().message(), "count 8 where 9 was due");
  for (int rank : {0, 2}) {
    EXPECT_EQ(ranks[rank]->failure().code(), Code::kMismatch);
    EXPECT_EQ(ranks[rank]->failure().message(),
              "rank 1 reported: count 8 where 9 was due");
  }
}

TEST(TcpBootstrapTest, ReportEndsAWaitingCall) {
  auto coordinator = StartCoordinator();
  auto ranks = JoinAll(coordinator->unique_id(), 2);
  OnEachThread(2, [&](int rank) {
    if (rank == 0) {
      ranks[0]->Report(Status(Code::kSystem, "disk on fire"));
      return;
    }
    const Status met = ranks[1]->Barrier(Deadline::AfterMs(kPatienceMs));
    EXPECT_EQ(met.code(), Code::kSystem) << met.ToString();
  });
}

TEST(TcpBootstrapTest, ReportOfARankThatLeavesAtOnceStillArrives) {
  auto coordinator = StartCoordinator();
  auto ranks = JoinAll(coordinator->unique_id(), 2);
  ranks[1]->Report(Status(Code::kSystem, "disk on fire"));
  ranks[1].reset();
  ASSERT_TRUE(WaitForFailure(*ranks[0]));
  EXPECT_TRUE(Contains(ranks[0]->failure(), "disk on fire"));
}

TEST(TcpBootstrapTest, DifferentCallsAreAMismatchThatNamesBoth) {
  auto coordinator = StartCoordinator();
  auto ranks = JoinAll(coordinator->unique_id(), 2);
  OnEachThread(2, [&](int rank) {
    const Deadline deadline = Deadline::AfterMs(kPatienceMs);
    const Status met = rank == 0 ? ranks[0]->Barrier(deadline)
                                 : ranks[1]->AllGather("x", deadline).status();
    EXPECT_EQ(met.code(), Code::kMismatch) << met.ToString();
    EXPECT_TRUE(Contains(met, "rank 0") && Contains(met, "rank 1"));
  });
}

TEST(TcpBootstrapTest, GoodbyeIsNoFailureButEndsCallsThatNeedTheRank) {
  CoordinatorOptions options = OnLoopback();
  options.heartbeat_ms = 10;
  options.peer_timeout_ms = 2000;
  auto coordinator = StartCoordinator(options);
  auto ranks = JoinAll(coordinator->unique_id(), 3);
  ranks[2].reset();
  const Status met = ranks[0]->Barrier(Deadline::AfterMs(kPatienceMs));
  EXPECT_EQ(met.code(), Code::kRemoteDead) << met.ToString();
  EXPECT_TRUE(Contains(met, "rank 2 left")) << met.ToString();
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_FALSE(ranks[0]->failed()) << ranks[0]->failure().ToString();
  EXPECT_FALSE(ranks[1]->failed()) << ranks[1]->failure().ToString();
}

TEST(TcpBootstrapTest, OrderlyEndOfTheCoordinatorIsNoDeath) {
  CoordinatorOptions options = OnLoopback();
  options.linger_ms = 50;
  auto coordinator = StartCoordinator(options);
  auto ranks = JoinAll(coordinator->unique_id(), 2);
  ranks[0].reset();
  coordinator.reset();  // rank 1 is slower than the linger time
  const Status met = ranks[1]->Barrier(Deadline::AfterMs(kPatienceMs));
  EXPECT_EQ(met.code(), Code::kRemoteDead) << met.ToString();
  EXPECT_TRUE(Contains(met, "orderly")) << met.ToString();
  EXPECT_FALSE(ranks[1]->failed()) << ranks[1]->failure().ToString();
}

TEST(TcpBootstrapTest, CoordinatorWaitsForSlowerRanksToLeave) {
  auto coordinator = StartCoordinator();
  auto ranks = JoinAll(coordinator->unique_id(), 2);
  ranks[0].reset();
  OnEachThread(2, [&](int thread) {
    if (thread == 0) {
      coordinator.reset();
      return;
    }
    std::this_thread::sleep_for(milliseconds(200));
    EXPECT_FALSE(ranks[1]->failed());
    ranks[1].reset();
  });
}

TEST(TcpBootstrapTest, NonsenseArgumentsAreRefused) {
  auto coordinator = StartCoordinator();
  const UniqueId id = coordinator->unique_id();
  EXPECT_FALSE(JoinTcp(id, 0, 0, {}).ok());
  EXPECT_FALSE(JoinTcp(id, 2, 2, {}).ok());
  EXPECT_FALSE(JoinTcp(id, -1, 2, {}).ok());
  TcpOptions options;
  options.join_timeout_ms = 0;
  EXPECT_FALSE(JoinTcp(id, 0, 2, options).ok());
  CoordinatorOptions bad = OnLoopback();
  bad.peer_timeout_ms = bad.heartbeat_ms;
  EXPECT_FALSE(Coordinator::Start(bad).ok());
  bad = OnLoopback();
  bad.socket_ifname = "no-such-interface";
  EXPECT_FALSE(Coordinator::Start(bad).ok());
}

}  // namespace
}  // namespace rondo
