// Ranks that meet as a launcher would start them, in processes of their own.

#include "transports/bootstrap/rendezvous.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "transports/base/clock.h"
#include "transports/bootstrap/rank_processes.h"
#include "transports/bootstrap/rendezvous_file.h"

namespace rondo {
namespace {

constexpr int kRanks = 3;
constexpr int kPatienceMs = 20000;

class RendezvousTest : public testing::Test {
 protected:
  RendezvousTest() {
    std::string pattern = testing::TempDir() + "/rondo-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~RendezvousTest() override { std::filesystem::remove_all(directory_); }

  LaunchInfo ByFile(int rank) const {
    LaunchInfo launch;
    launch.launcher = Launcher::kOpenMpi;
    launch.rank = launch.local_rank = rank;
    launch.world_size = launch.local_size = kRanks;
    launch.meeting.kind = Meeting::Kind::kFile;
    launch.meeting.path = directory_ + "/private/job";
    launch.meeting.private_directory = true;
    return launch;
  }

  LaunchInfo ByAddress(int rank, uint16_t port) const {
    LaunchInfo launch = ByFile(rank);
    launch.meeting = {};
    launch.meeting.kind = Meeting::Kind::kAddress;
    launch.meeting.host = "127.0.0.1";
    launch.meeting.port = port;
    return launch;
  }

  std::string directory_;
};

// A port of loopback that was free a moment ago.
uint16_t FreePort() {
  CoordinatorOptions options;
  options.socket_ifname = "lo";
  return (*Coordinator::Start(options))->unique_id().address().port;
}

// Joins, exchanges, leaves; says "0,1,2" or the error.
void MeetAndSay(RankVoice& voice, const LaunchInfo& launch,
                const RendezvousOptions& options) {
  auto joined = JoinLaunched(launch, options);
  if (!joined.ok()) {
    voice.Say(joined.status().ToString());
    return;
  }
  const auto all = joined->bootstrap->AllGather(std::to_string(launch.rank),
                                                Deadline::AfterMs(kPatienceMs));
  std::string line;
  if (all.ok()) {
    for (const std::string& part : *all) line += part + ",";
  }
  voice.Say(all.ok() ? line : all.status().ToString());
}

TEST_F(RendezvousTest, RanksMeetByFileAndNothingIsLeft) {
  RankProcesses ranks(kRanks, [this](RankVoice& voice) {
    MeetAndSay(voice, ByFile(voice.rank()), {});
  });
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(ranks.Line(rank), "0,1,2,");
    EXPECT_EQ(ranks.Wait(rank), 0);
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_ + "/private"));
}

TEST_F(RendezvousTest, FileOfACrashedJobDoesNoHarm) {
  // Nobody listens at that address any more.
  ASSERT_TRUE(MakePrivateDirectory(directory_ + "/private").ok());
  const UniqueId stale =
      *UniqueId::Create(*ParseNumericAddress("127.0.0.1", FreePort()));
  ASSERT_TRUE(PublishUniqueId(ByFile(0).meeting.path, stale).ok());
  RankProcesses ranks(kRanks, [this](RankVoice& voice) {
    // Rank 0 comes last, so that the others surely see the old file.
    if (voice.rank() == 0) voice.Hear();
    MeetAndSay(voice, ByFile(voice.rank()), {});
  });
  poll(nullptr, 0, 100);
  ranks.Tell(0, "go");
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(ranks.Line(rank), "0,1,2,");
  }
}

TEST_F(RendezvousTest, FileThatLeadsToAnotherJobDoesNoHarm) {
  // Another job's coordinator now owns the port of the old file.
  ASSERT_TRUE(MakePrivateDirectory(directory_ + "/private").ok());
  const uint16_t port = FreePort();
  const SocketAddress place = *ParseNumericAddress("127.0.0.1", port);
  ASSERT_TRUE(
      PublishUniqueId(ByFile(0).meeting.path, *UniqueId::Create(place)).ok());
  RankProcesses ranks(kRanks + 1, [this, place](RankVoice& voice) {
    if (voice.rank() == kRanks) {
      auto other = Coordinator::StartAt(*UniqueId::Create(place), {});
      voice.Say(other.ok() ? "listening" : other.status().ToString());
      voice.Hear();
      return;
    }
    voice.Hear();
    if (voice.rank() == 0) poll(nullptr, 0, 100);
    MeetAndSay(voice, ByFile(voice.rank()), {});
  });
  ASSERT_EQ(ranks.Line(kRanks), "listening");
  for (int rank = 0; rank < kRanks; ++rank) ranks.Tell(rank, "go");
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(ranks.Line(rank), "0,1,2,");
  }
}

TEST_F(RendezvousTest, RanksMeetAtAnAddressWithASecretFile) {
  const std::string secret = directory_ + "/secret";
  std::ofstream(secret) << "a long secret";
  ASSERT_EQ(chmod(secret.c_str(), 0600), 0);
  RendezvousOptions options;
  options.secret_file = secret;
  const uint16_t port = FreePort();
  RankProcesses ranks(kRanks, [&, this](RankVoice& voice) {
    MeetAndSay(voice, ByAddress(voice.rank(), port), options);
  });
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(ranks.Line(rank), "0,1,2,");
  }
}

TEST_F(RendezvousTest, RankWithAnotherSecretStaysOut) {
  const std::string secret = directory_ + "/secret";
  std::ofstream(secret) << "a long secret";
  ASSERT_EQ(chmod(secret.c_str(), 0600), 0);
  const uint16_t port = FreePort();
  RankProcesses ranks(kRanks, [&, this](RankVoice& voice) {
    RendezvousOptions options;
    options.timeout_ms = voice.rank() == 1 ? 1000 : 3000;
    if (voice.rank() != 1) options.secret_file = secret;
    MeetAndSay(voice, ByAddress(voice.rank(), port), options);
  });
  const std::string outsider = ranks.Line(1);
  EXPECT_NE(outsider.find("another secret"), std::string::npos) << outsider;
  const std::string insider = ranks.Line(0);
  EXPECT_NE(insider.find("have not joined: rank 1"), std::string::npos)
      << insider;
}

TEST_F(RendezvousTest, SecretFileThatOthersCanReadIsRefused) {
  const std::string secret = directory_ + "/secret";
  std::ofstream(secret) << "a long secret";
  ASSERT_EQ(chmod(secret.c_str(), 0640), 0);
  RendezvousOptions options;
  options.secret_file = secret;
  const auto joined = JoinLaunched(ByAddress(0, FreePort()), options);
  ASSERT_FALSE(joined.ok());
  EXPECT_NE(joined.status().message().find("mode 640"), std::string::npos)
      << joined.status().ToString();
}

TEST_F(RendezvousTest, AbsentRankZeroIsATimeoutThatNamesThePlace) {
  RendezvousOptions options;
  options.timeout_ms = 100;
  const auto joined = JoinLaunched(ByFile(1), options);
  ASSERT_FALSE(joined.ok());
  EXPECT_EQ(joined.status().code(), Code::kTimeout);
  EXPECT_NE(joined.status().message().find("/private/job"), std::string::npos);
  EXPECT_NE(joined.status().message().find("RONDO_ROOT"), std::string::npos);
}

TEST_F(RendezvousTest, AbsentRankIsNamedOnAllThatCame) {
  RankProcesses ranks(kRanks - 1, [this](RankVoice& voice) {
    RendezvousOptions options;
    options.timeout_ms = voice.rank() == 0 ? 500 : kPatienceMs;
    MeetAndSay(voice, ByFile(voice.rank()), options);
  });
  for (int rank : {0, 1}) {
    const std::string line = ranks.Line(rank);
    EXPECT_NE(line.find("have not joined: rank 2"), std::string::npos) << line;
  }
}

TEST_F(RendezvousTest, OneRankIsAlone) {
  const auto joined = JoinLaunched(LaunchInfo{}, {});
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(joined->bootstrap->world_size(), 1);
  EXPECT_TRUE(joined->bootstrap->Barrier(Deadline::AfterMs(kPatienceMs)).ok());
}

}  // namespace
}  // namespace rondo
