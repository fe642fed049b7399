#include "transports/bootstrap/address.h"

#include <gtest/gtest.h>

namespace rondo {
namespace {

TEST(AddressTest, NumericTextComesBack) {
  EXPECT_EQ(ParseNumericAddress("10.0.0.1", 80)->ToString(), "10.0.0.1:80");
  EXPECT_EQ(ParseNumericAddress("::1", 80)->ToString(), "[::1]:80");
  EXPECT_FALSE(ParseNumericAddress("localhost", 80).ok());
}

TEST(AddressTest, SurvivesTheSystemsForm) {
  for (const char* host : {"192.0.2.7", "2001:db8::7"}) {
    const SocketAddress address = *ParseNumericAddress(host, 4711);
    sockaddr_storage raw;
    address.ToSockaddr(&raw);
    EXPECT_EQ(*SocketAddress::FromSockaddr(reinterpret_cast<sockaddr*>(&raw)),
              address);
  }
  sockaddr_storage local{};
  local.ss_family = AF_UNIX;
  EXPECT_FALSE(
      SocketAddress::FromSockaddr(reinterpret_cast<sockaddr*>(&local)).ok());
}

TEST(AddressTest, KnowsSpecialAddresses) {
  EXPECT_TRUE(ParseNumericAddress("127.0.1.1", 1)->IsLoopback());
  EXPECT_TRUE(ParseNumericAddress("::1", 1)->IsLoopback());
  EXPECT_FALSE(ParseNumericAddress("10.0.0.1", 1)->IsLoopback());
  EXPECT_TRUE(ParseNumericAddress("0.0.0.0", 1)->IsWildcard());
  EXPECT_TRUE(ParseNumericAddress("::", 1)->IsWildcard());
  EXPECT_FALSE(ParseNumericAddress("::1", 1)->IsWildcard());
  EXPECT_TRUE(ParseNumericAddress("fe80::1", 1)->IsLinkLocal());
  EXPECT_TRUE(ParseNumericAddress("169.254.0.1", 1)->IsLinkLocal());
  EXPECT_FALSE(ParseNumericAddress("2001:db8::1", 1)->IsLinkLocal());
}

TEST(AddressTest, HostAndPortAreTakenApart) {
  EXPECT_EQ(ParseHostPort("node7:29400")->host, "node7");
  EXPECT_EQ(ParseHostPort("node7:29400")->port, 29400);
  EXPECT_EQ(ParseHostPort("[fd00::1]:1")->host, "fd00::1");
}

TEST(AddressTest, MalformedPlacesAreRefusedWithTheirText) {
  for (const char* text :
       {"", "node7", "node7:", ":80", "node7:0", "node7:65536", "node7:8x",
        "node7:-1", "fd00::1:80", "[]:80", "node7:80 "}) {
    const auto place = ParseHostPort(text);
    ASSERT_FALSE(place.ok()) << text;
    EXPECT_NE(place.status().message().find("'" + std::string(text) + "'"),
              std::string::npos)
        << place.status().ToString();
  }
}

TEST(AddressTest, LocalhostResolvesToLoopback) {
  const auto found = ResolveHost("localhost", 80);
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  EXPECT_TRUE(found->front().IsLoopback());
  EXPECT_EQ(found->front().port, 80);
  EXPECT_FALSE(ResolveHost("", 80).ok());
}

}  // namespace
}  // namespace rondo
