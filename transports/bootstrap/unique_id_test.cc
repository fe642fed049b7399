#include "transports/bootstrap/unique_id.h"

#include <gtest/gtest.h>

#include <cstring>

namespace rondo {
namespace {

SocketAddress Loopback(uint16_t port) {
  return *ParseNumericAddress("127.0.0.1", port);
}

TEST(UniqueIdTest, SurvivesBytesAndHex) {
  for (const char* host : {"10.1.2.3", "fd00::12:1"}) {
    const SocketAddress address = *ParseNumericAddress(host, 4711);
    const UniqueId id = *UniqueId::Create(address);
    EXPECT_EQ(id.bytes().size(), 128u);
    for (const auto& copy :
         {UniqueId::Parse(id.bytes()), UniqueId::FromHex(id.ToHex()),
          UniqueId::FromHex(id.ToHex() + "\n")}) {
      ASSERT_TRUE(copy.ok()) << copy.status().ToString();
      EXPECT_EQ(copy->address(), address);
      EXPECT_EQ(copy->secret(), id.secret());
    }
  }
}

TEST(UniqueIdTest, SecretsDifferAndAreNotShown) {
  const UniqueId a = *UniqueId::Create(Loopback(1));
  const UniqueId b = *UniqueId::Create(Loopback(1));
  EXPECT_NE(a.secret(), b.secret());
  EXPECT_EQ(a.ToString(), "UniqueId(127.0.0.1:1)");
}

TEST(UniqueIdTest, EveryFlippedBitIsRefused) {
  const UniqueId id = *UniqueId::Create(Loopback(4711));
  for (size_t bit = 0; bit < 8 * UniqueId::kBytes; ++bit) {
    std::string bytes(id.bytes());
    bytes[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    EXPECT_FALSE(UniqueId::Parse(bytes).ok()) << "bit " << bit;
  }
}

TEST(UniqueIdTest, WrongLengthsAndDigitsAreNamed) {
  const UniqueId id = *UniqueId::Create(Loopback(4711));
  for (size_t bytes = 0; bytes < UniqueId::kBytes; ++bytes) {
    EXPECT_FALSE(UniqueId::Parse(id.bytes().substr(0, bytes)).ok());
  }
  EXPECT_FALSE(UniqueId::Parse(std::string(id.bytes()) + "x").ok());
  std::string hex = id.ToHex();
  hex[10] = 'X';
  const auto parsed = UniqueId::FromHex(hex);
  ASSERT_FALSE(parsed.ok());
  EXPECT_NE(parsed.status().message().find("position 10"), std::string::npos);
  EXPECT_FALSE(UniqueId::FromHex("").ok());
}

TEST(UniqueIdTest, WildcardAddressIsRefused) {
  EXPECT_FALSE(UniqueId::Create(*ParseNumericAddress("0.0.0.0", 4711)).ok());
  EXPECT_FALSE(UniqueId::Create(*ParseNumericAddress("::", 4711)).ok());
  EXPECT_FALSE(UniqueId::Create(Loopback(0)).ok());
}

TEST(FixedUniqueIdTest, DependsOnSecretTextAndAddressOnly) {
  const UniqueId a = *FixedUniqueId("127.0.0.1", 4711, "job 7");
  const UniqueId b = *FixedUniqueId("127.0.0.1", 4711, "job 7");
  const UniqueId c = *FixedUniqueId("127.0.0.1", 4711, "job 8");
  EXPECT_EQ(a.bytes(), b.bytes());
  EXPECT_NE(a.secret(), c.secret());
  EXPECT_EQ(a.address().ToString(), "127.0.0.1:4711");
}

TEST(FixedUniqueIdTest, EmptySecretAndUnknownHostAreRefused) {
  EXPECT_FALSE(FixedUniqueId("127.0.0.1", 4711, "").ok());
  const auto unknown = FixedUniqueId("no-such-host.invalid", 4711, "x");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.status().message().find("no-such-host.invalid"),
            std::string::npos);
}

}  // namespace
}  // namespace rondo
