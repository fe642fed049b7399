// Strangers at the coordinator's port: garbage, silence, floods, impostors.

#include "transports/bootstrap/coordinator.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "transports/base/clock.h"
#include "transports/bootstrap/connection.h"
#include "transports/bootstrap/control_message.h"
#include "transports/bootstrap/handshake.h"
#include "transports/bootstrap/network.h"
#include "transports/bootstrap/tcp_bootstrap.h"

namespace rondo {
namespace {

constexpr int kPatienceMs = 20000;

Deadline Patience() { return Deadline::AfterMs(kPatienceMs); }

std::unique_ptr<Coordinator> StartCoordinator(int handshake_timeout_ms) {
  CoordinatorOptions options;
  options.socket_ifname = "lo";
  options.handshake_timeout_ms = handshake_timeout_ms;
  auto coordinator = Coordinator::Start(options);
  EXPECT_TRUE(coordinator.ok()) << coordinator.status().ToString();
  return *std::move(coordinator);
}

FileDescriptor Dial(const Coordinator& coordinator) {
  auto socket = ConnectTo(coordinator.unique_id().address(), Patience());
  EXPECT_TRUE(socket.ok()) << socket.status().ToString();
  return *std::move(socket);
}

void SendRaw(int fd, const std::string& bytes) {
  EXPECT_EQ(WriteSome(fd, bytes.data(), bytes.size()).bytes, bytes.size());
}

// Whether the coordinator hangs up, whatever it says before.
bool HangsUp(int fd) {
  const Deadline deadline = Patience();
  char buffer[4096];
  while (WaitReady(fd, POLLIN, deadline).ok()) {
    const IoResult io = ReadSome(fd, buffer, sizeof(buffer));
    if (io.state == IoResult::State::kClosed ||
        io.state == IoResult::State::kFailed) {
      return true;
    }
  }
  return false;
}

// Two real ranks meet, whatever else goes on.
void ExpectRanksMeet(const Coordinator& coordinator) {
  std::vector<std::thread> threads;
  for (int rank : {0, 1}) {
    threads.emplace_back([&coordinator, rank] {
      auto joined = JoinTcp(coordinator.unique_id(), rank, 2, {});
      ASSERT_TRUE(joined.ok()) << joined.status().ToString();
      const Status met = (*joined)->Barrier(Patience());
      EXPECT_TRUE(met.ok()) << met.ToString();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CoordinatorTest, GarbageIsDroppedAndCounted) {
  auto coordinator = StartCoordinator(kPatienceMs);
  std::mt19937_64 random(7);
  constexpr int kClients = 50;
  for (int i = 0; i < kClients; ++i) {
    FileDescriptor socket = Dial(*coordinator);
    std::string bytes = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    if (i > 0) {
      for (char& byte : bytes) byte = static_cast<char>(random());
      bytes[4] = '\xff';  // a type that does not exist
    }
    SendRaw(socket.get(), bytes);
    EXPECT_TRUE(HangsUp(socket.get()));
  }
  ExpectRanksMeet(*coordinator);
  EXPECT_EQ(coordinator->stats().garbage, uint64_t{kClients});
  EXPECT_EQ(coordinator->stats().accepted, 2u);
}

TEST(CoordinatorTest, LargeFramesOfStrangersAreRefusedUnread) {
  auto coordinator = StartCoordinator(kPatienceMs);
  FileDescriptor socket = Dial(*coordinator);
  std::string header("\0\0\1\0\1\0\0\0\0\0\0\0\0\0\0\0", 16);  // 64 KiB hello
  SendRaw(socket.get(), header);
  EXPECT_TRUE(HangsUp(socket.get()));
  EXPECT_EQ(coordinator->stats().garbage, 1u);
}

TEST(CoordinatorTest, SlowStrangersAreDroppedAtTheirDeadline) {
  auto coordinator = StartCoordinator(200);
  FileDescriptor silent = Dial(*coordinator);
  FileDescriptor dribbling = Dial(*coordinator);
  std::thread dribbler([&] {
    // A byte at a time: every one a sign of life, none of them a handshake.
    for (int i = 0; i < 100; ++i) {
      const char zero = 0;
      if (WriteSome(dribbling.get(), i == 4 ? "\1" : &zero, 1).state !=
          IoResult::State::kDone) {
        return;
      }
      poll(nullptr, 0, 50);
    }
  });
  EXPECT_TRUE(HangsUp(silent.get()));
  EXPECT_TRUE(HangsUp(dribbling.get()));
  dribbler.join();
  EXPECT_EQ(coordinator->stats().slow, 2u);
  ExpectRanksMeet(*coordinator);
}

TEST(CoordinatorTest, IdleFloodDoesNotKeepRanksOut) {
  auto coordinator = StartCoordinator(kPatienceMs);
  std::vector<FileDescriptor> flood;
  for (int i = 0; i < 200; ++i) flood.push_back(Dial(*coordinator));
  ExpectRanksMeet(*coordinator);
  EXPECT_GT(coordinator->stats().crowded_out, 0u);
}

TEST(CoordinatorTest, PortScanIsCountedAsGivingUp) {
  auto coordinator = StartCoordinator(kPatienceMs);
  for (int i = 0; i < 20; ++i) Dial(*coordinator);
  ExpectRanksMeet(*coordinator);
  const Deadline deadline = Patience();
  while (coordinator->stats().gave_up < 20 && !deadline.expired()) {
    poll(nullptr, 0, 2);
  }
  EXPECT_EQ(coordinator->stats().gave_up, 20u);
}

// A client by hand, up to the challenge.
struct HandMade {
  Connection connection;
  std::string hello;
  std::string challenge;
};

HandMade SayHello(const Coordinator& coordinator, const Hello& hello) {
  HandMade out{Connection(Dial(coordinator)), hello.Encode(), ""};
  out.connection.Queue(MessageType::kHello, out.hello);
  const auto frame = AwaitFrame(&out.connection, Patience());
  EXPECT_TRUE(frame.ok()) << frame.status().ToString();
  if (frame.ok()) {
    EXPECT_EQ(frame->type, MessageType::kChallenge);
    out.challenge = frame->payload;
  }
  return out;
}

TEST(CoordinatorTest, ReplayedProofIsRefused) {
  auto coordinator = StartCoordinator(kPatienceMs);
  const Hello hello{.rank = 0, .world_size = 2};
  HandMade first = SayHello(*coordinator, hello);
  const HandshakeKeys keys = *DeriveKeys(coordinator->unique_id().secret(),
                                         first.hello, first.challenge);
  // The proof of one connection, recorded, in another with the same hello.
  HandMade second = SayHello(*coordinator, hello);
  EXPECT_NE(first.challenge, second.challenge);
  second.connection.Queue(MessageType::kProof,
                          std::string(AsBytes(keys.rank_proof)));
  const auto refused = AwaitFrame(&second.connection, Patience());
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(refused->type, MessageType::kWrongProof);
  // Where it belongs it is accepted: the proof itself was right.
  first.connection.Queue(MessageType::kProof,
                         std::string(AsBytes(keys.rank_proof)));
  const auto welcome = AwaitFrame(&first.connection, Patience());
  ASSERT_TRUE(welcome.ok());
  EXPECT_EQ(welcome->type, MessageType::kWelcome);
}

TEST(CoordinatorTest, OtherLibraryVersionIsRefusedWithBothNamed) {
  auto coordinator = StartCoordinator(kPatienceMs);
  Hello hello{.rank = 1, .world_size = 2};
  hello.rondo_version = kLibraryVersion + 203;
  HandMade client = SayHello(*coordinator, hello);
  const HandshakeKeys keys = *DeriveKeys(coordinator->unique_id().secret(),
                                         client.hello, client.challenge);
  client.connection.Queue(MessageType::kProof,
                          std::string(AsBytes(keys.rank_proof)));
  const auto welcome = AwaitFrame(&client.connection, Patience());
  ASSERT_TRUE(welcome.ok());
  ASSERT_TRUE(client.connection.SecureReceiving(keys.coordinator_key).ok());
  const auto frame = AwaitFrame(&client.connection, Patience());
  ASSERT_TRUE(frame.ok()) << frame.status().ToString();
  ASSERT_EQ(frame->type, MessageType::kRefused);
  const std::string text =
      ErrorMessage::Decode(frame->payload)->error.message();
  EXPECT_NE(text.find(FormatVersion(hello.rondo_version)), std::string::npos);
  EXPECT_NE(text.find(FormatVersion(kLibraryVersion)), std::string::npos);
}

TEST(CoordinatorTest, OtherProtocolVersionIsShownOursAndLetGo) {
  auto coordinator = StartCoordinator(kPatienceMs);
  Hello hello{.rank = 1, .world_size = 2};
  hello.protocol_version = kProtocolVersion + 1;
  HandMade client = SayHello(*coordinator, hello);
  EXPECT_EQ(Challenge::Decode(client.challenge)->protocol_version,
            kProtocolVersion);
  EXPECT_TRUE(HangsUp(client.connection.fd()));
  EXPECT_EQ(coordinator->stats().refused, 1u);
}

TEST(CoordinatorTest, UntaggedFramesAfterTheHandshakeAreADeath) {
  auto coordinator = StartCoordinator(kPatienceMs);
  auto honest = JoinTcp(coordinator->unique_id(), 0, 2, {});
  ASSERT_TRUE(honest.ok());
  HandMade client = SayHello(*coordinator, {.rank = 1, .world_size = 2});
  const HandshakeKeys keys = *DeriveKeys(coordinator->unique_id().secret(),
                                         client.hello, client.challenge);
  client.connection.Queue(MessageType::kProof,
                          std::string(AsBytes(keys.rank_proof)));
  ASSERT_TRUE(AwaitFrame(&client.connection, Patience()).ok());
  // Enough for a header, a payload and a tag, but the tag is nobody's.
  client.connection.Queue(MessageType::kReport, std::string(64, 'x'));
  ASSERT_TRUE(client.connection.Flush().ok());
  const Deadline deadline = Patience();
  while (!(*honest)->failed() && !deadline.expired()) poll(nullptr, 0, 2);
  EXPECT_NE((*honest)->failure().message().find("rank 1 died"),
            std::string::npos)
      << (*honest)->failure().ToString();
}

TEST(CoordinatorTest, ImpostorWithoutTheSecretGetsNoRank) {
  // A real coordinator's address, taken over by one with another secret.
  const UniqueId id = StartCoordinator(kPatienceMs)->unique_id();
  const UniqueId other = *UniqueId::Create(id.address());
  auto impostor = Coordinator::StartAt(other, {});
  ASSERT_TRUE(impostor.ok()) << impostor.status().ToString();
  TcpOptions options;
  options.join_timeout_ms = 2000;
  EXPECT_FALSE(JoinTcp(id, 0, 1, options).ok());
  EXPECT_EQ((*impostor)->joined(), 0);
}

}  // namespace
}  // namespace rondo
