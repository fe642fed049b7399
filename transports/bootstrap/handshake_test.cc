#include "transports/bootstrap/handshake.h"

#include <gtest/gtest.h>

#include <set>

namespace rondo {
namespace {

Hello SomeHello() {
  Hello hello{.rank = 3, .world_size = 8};
  hello.nonce.fill(7);
  hello.process.fill(9);
  return hello;
}

TEST(HandshakeTest, MessagesComeBack) {
  const auto hello = Hello::Decode(SomeHello().Encode());
  ASSERT_TRUE(hello.ok());
  EXPECT_EQ(hello->rank, 3);
  EXPECT_EQ(hello->world_size, 8);
  EXPECT_EQ(hello->nonce, SomeHello().nonce);
  EXPECT_EQ(hello->process, SomeHello().process);
  Challenge challenge;
  challenge.nonce.fill(5);
  EXPECT_EQ(Challenge::Decode(challenge.Encode())->nonce, challenge.nonce);
  const auto accepted = Accepted::Decode(Accepted{-1, 100, 2000}.Encode());
  ASSERT_TRUE(accepted.ok());
  EXPECT_EQ(accepted->owner_rank, -1);
  EXPECT_EQ(accepted->heartbeat_ms, 100);
  EXPECT_EQ(accepted->peer_timeout_ms, 2000);
}

TEST(HandshakeTest, EveryWrongLengthIsRefused) {
  const std::string hello = SomeHello().Encode();
  for (size_t bytes = 0; bytes < hello.size(); ++bytes) {
    EXPECT_FALSE(Hello::Decode(hello.substr(0, bytes)).ok()) << bytes;
  }
  EXPECT_FALSE(Hello::Decode(hello + "x").ok());
  const std::string challenge = Challenge().Encode();
  for (size_t bytes = 0; bytes < challenge.size(); ++bytes) {
    EXPECT_FALSE(Challenge::Decode(challenge.substr(0, bytes)).ok()) << bytes;
  }
  EXPECT_FALSE(Challenge::Decode(challenge + "x").ok());
}

TEST(HandshakeTest, RanksOutOfRangeAreRefused) {
  for (const auto& [rank, size] :
       {std::pair{8, 8}, {-1, 8}, {0, 0}, {0, -1}, {0, kMaxWorldSize + 1}}) {
    const Hello hello{.rank = rank, .world_size = size};
    EXPECT_FALSE(Hello::Decode(hello.Encode()).ok()) << rank << " " << size;
  }
}

TEST(HandshakeTest, FutureProtocolsAreReadAsFarAsTheirNumber) {
  Hello hello = SomeHello();
  hello.protocol_version = 99;
  const auto read = Hello::Decode(hello.Encode() + "fields of the future");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->protocol_version, 99u);
}

TEST(HandshakeTest, KeysDependOnEverything) {
  UniqueId::Secret secret{}, other{};
  other[31] = 1;
  std::set<std::string> seen;
  const auto add = [&seen](const HandshakeKeys& keys) {
    for (const Digest& digest : {keys.rank_proof, keys.coordinator_proof,
                                 keys.rank_key, keys.coordinator_key}) {
      EXPECT_TRUE(seen.insert(std::string(AsBytes(digest))).second);
    }
  };
  add(*DeriveKeys(secret, "hello", "challenge"));
  add(*DeriveKeys(other, "hello", "challenge"));
  add(*DeriveKeys(secret, "hellp", "challenge"));
  add(*DeriveKeys(secret, "hello", "challengf"));
}

TEST(HandshakeTest, VersionsReadAsPeopleWriteThem) {
  EXPECT_EQ(FormatVersion(100), "0.1.0");
  EXPECT_EQ(FormatVersion(21403), "2.14.3");
}

}  // namespace
}  // namespace rondo
