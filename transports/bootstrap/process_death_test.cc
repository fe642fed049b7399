// Real processes that die, stop and leave.

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <memory>
#include <string>

#include "transports/base/clock.h"
#include "transports/bootstrap/coordinator.h"
#include "transports/bootstrap/rank_processes.h"
#include "transports/bootstrap/tcp_bootstrap.h"

namespace rondo {
namespace {

constexpr int kRanks = 4;
constexpr int kPatienceMs = 20000;

// Far above any test's time: with it, only a broken connection can be noticed.
constexpr int kNeverMs = 600000;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void WaitUntilFailed(const Bootstrap& bootstrap) {
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  while (!bootstrap.failed() && !deadline.expired()) poll(nullptr, 0, 2);
}

struct Member {
  std::unique_ptr<Coordinator> coordinator;  // rank 0 only
  std::unique_ptr<Bootstrap> bootstrap;
};

// Rank 0 says its unique id, the others hear it; all meet, and say "joined".
Member Meet(RankVoice& voice, int heartbeat_ms, int peer_timeout_ms) {
  Member member;
  std::string hex;
  if (voice.rank() == 0) {
    CoordinatorOptions options;
    options.socket_ifname = "lo";
    options.heartbeat_ms = heartbeat_ms;
    options.peer_timeout_ms = peer_timeout_ms;
    member.coordinator = *Coordinator::Start(options);
    hex = member.coordinator->unique_id().ToHex();
    voice.Say(hex);
  } else {
    hex = voice.Hear();
  }
  auto joined = JoinTcp(*UniqueId::FromHex(hex), voice.rank(), kRanks, {});
  if (!joined.ok()) {
    voice.Say(joined.status().ToString());
    return member;
  }
  member.bootstrap = *std::move(joined);
  const Status met = member.bootstrap->Barrier(Deadline::AfterMs(kPatienceMs));
  voice.Say(met.ok() ? "joined" : met.ToString());
  return member;
}

// Joins, waits for a failure, says it.
void JoinAndWatch(RankVoice& voice, int heartbeat_ms, int peer_timeout_ms) {
  Member member = Meet(voice, heartbeat_ms, peer_timeout_ms);
  WaitUntilFailed(*member.bootstrap);
  voice.Say(member.bootstrap->failure().ToString());
}

void PassUniqueId(RankProcesses* ranks) {
  const std::string hex = ranks->Line(0);
  ASSERT_EQ(hex.size(), 2 * UniqueId::kBytes);
  for (int rank = 1; rank < kRanks; ++rank) ranks->Tell(rank, hex);
  for (int rank = 0; rank < kRanks; ++rank) {
    ASSERT_EQ(ranks->Line(rank), "joined");
  }
}

TEST(ProcessDeathTest, KilledRankIsNamedOnAllOthers) {
  RankProcesses ranks(
      kRanks, [](RankVoice& voice) { JoinAndWatch(voice, 100, kNeverMs); });
  PassUniqueId(&ranks);
  ranks.Signal(2, SIGKILL);
  for (int rank : {0, 1, 3}) {
    const std::string failure = ranks.Line(rank);
    EXPECT_TRUE(Contains(failure, "REMOTE_DEAD: rank 2 died")) << failure;
    EXPECT_EQ(ranks.Wait(rank), 0);
  }
}

TEST(ProcessDeathTest, KilledRankZeroIsNamedThoughItHoldsTheCoordinator) {
  RankProcesses ranks(
      kRanks, [](RankVoice& voice) { JoinAndWatch(voice, 100, kNeverMs); });
  PassUniqueId(&ranks);
  ranks.Signal(0, SIGKILL);
  for (int rank : {1, 2, 3}) {
    const std::string failure = ranks.Line(rank);
    EXPECT_TRUE(Contains(failure, "REMOTE_DEAD: rank 0 died")) << failure;
    EXPECT_EQ(ranks.Wait(rank), 0);
  }
}

TEST(ProcessDeathTest, StoppedRankIsSilentAndLearnsItWhenItGoesOn) {
  RankProcesses ranks(kRanks,
                      [](RankVoice& voice) { JoinAndWatch(voice, 50, 1000); });
  PassUniqueId(&ranks);
  ranks.Signal(3, SIGSTOP);
  for (int rank : {0, 1, 2}) {
    const std::string failure = ranks.Line(rank);
    EXPECT_TRUE(Contains(failure, "rank 3 died: no heartbeat for 1000 ms"))
        << failure;
  }
  ranks.Signal(3, SIGCONT);
  const std::string own = ranks.Line(3);
  EXPECT_TRUE(Contains(own, "REMOTE_DEAD: rank ")) << own;
}

TEST(ProcessDeathTest, StoppedRankZeroIsNamed) {
  RankProcesses ranks(kRanks,
                      [](RankVoice& voice) { JoinAndWatch(voice, 50, 1000); });
  PassUniqueId(&ranks);
  ranks.Signal(0, SIGSTOP);
  for (int rank : {1, 2, 3}) {
    const std::string failure = ranks.Line(rank);
    EXPECT_TRUE(Contains(failure, "rank 0 died")) << failure;
    EXPECT_TRUE(Contains(failure, "no heartbeat")) << failure;
  }
}

TEST(ProcessDeathTest, ExitWithoutGoodbyeIsADeath) {
  RankProcesses ranks(kRanks, [](RankVoice& voice) {
    Member member = Meet(voice, 100, kNeverMs);
    if (voice.rank() == 1) _exit(3);
    WaitUntilFailed(*member.bootstrap);
    voice.Say(member.bootstrap->failure().ToString());
  });
  PassUniqueId(&ranks);
  EXPECT_EQ(ranks.Wait(1), 3);
  for (int rank : {0, 2, 3}) {
    const std::string failure = ranks.Line(rank);
    EXPECT_TRUE(Contains(failure, "rank 1 died")) << failure;
  }
}

TEST(ProcessDeathTest, DeathEndsAWaitingBarrier) {
  RankProcesses ranks(kRanks, [](RankVoice& voice) {
    Member member = Meet(voice, 100, kNeverMs);
    if (voice.rank() == 3) {
      voice.Hear();
      return;
    }
    voice.Say(
        member.bootstrap->Barrier(Deadline::AfterMs(kPatienceMs)).ToString());
  });
  PassUniqueId(&ranks);
  ranks.Signal(3, SIGKILL);
  for (int rank : {0, 1, 2}) {
    const std::string met = ranks.Line(rank);
    EXPECT_TRUE(Contains(met, "REMOTE_DEAD: rank 3 died")) << met;
  }
}

TEST(ProcessDeathTest, LeavingInAnyOrderIsNoFailure) {
  RankProcesses ranks(kRanks, [](RankVoice& voice) {
    Member member = Meet(voice, 50, kNeverMs);
    // Rank 0, which holds the coordinator, is done first; rank 3 last.
    poll(nullptr, 0, 60 * voice.rank());
    const bool failed = member.bootstrap->failed();
    member.bootstrap.reset();
    member.coordinator.reset();
    voice.Say(failed ? "failed" : "left in peace");
  });
  PassUniqueId(&ranks);
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(ranks.Line(rank), "left in peace");
    EXPECT_EQ(ranks.Wait(rank), 0);
  }
}

TEST(ProcessDeathTest, DeathAfterAllOthersLeftDoesNotMatter) {
  RankProcesses ranks(kRanks, [](RankVoice& voice) {
    Member member = Meet(voice, 50, kNeverMs);
    if (voice.rank() == 3) {
      voice.Hear();
      return;
    }
    member.bootstrap.reset();
    voice.Say("left");
    member.coordinator.reset();  // waits for rank 3, which never says goodbye
    voice.Say("ended");
  });
  PassUniqueId(&ranks);
  for (int rank : {0, 1, 2}) ASSERT_EQ(ranks.Line(rank), "left");
  ranks.Signal(3, SIGKILL);
  EXPECT_EQ(ranks.Line(0), "ended");
  for (int rank : {0, 1, 2}) EXPECT_EQ(ranks.Wait(rank), 0);
}

}  // namespace
}  // namespace rondo
