#include "transports/bootstrap/network.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

namespace rondo {
namespace {

TEST(NetworkTest, WildcardsAreNeverListenedOn) {
  for (const char* host : {"0.0.0.0", "::"}) {
    SocketAddress address = *ParseNumericAddress(host, 0);
    const auto listener = ListenOn(&address);
    ASSERT_FALSE(listener.ok());
    EXPECT_EQ(listener.status().code(), Code::kInvalidArgument);
  }
}

TEST(NetworkTest, BytesPassBothWaysWithoutBlocking) {
  SocketAddress address = *ParseNumericAddress("127.0.0.1", 0);
  const auto listener = ListenOn(&address);
  ASSERT_TRUE(listener.ok());
  ASSERT_NE(address.port, 0);
  EXPECT_FALSE(AcceptFrom(listener->get()).socket.valid()) << "nobody yet";

  const Deadline deadline = Deadline::AfterMs(10000);
  const auto client = ConnectTo(address, deadline);
  ASSERT_TRUE(client.ok()) << client.status().ToString();
  ASSERT_TRUE(WaitReady(listener->get(), POLLIN, deadline).ok());
  AcceptResult server = AcceptFrom(listener->get());
  ASSERT_TRUE(server.socket.valid());

  char buffer[8];
  EXPECT_EQ(ReadSome(client->get(), buffer, 8).state,
            IoResult::State::kWouldBlock);
  EXPECT_EQ(WriteSome(server.socket.get(), "hello", 5).bytes, 5u);
  ASSERT_TRUE(WaitReady(client->get(), POLLIN, deadline).ok());
  EXPECT_EQ(ReadSome(client->get(), buffer, 8).bytes, 5u);
  server.socket.Close();
  ASSERT_TRUE(WaitReady(client->get(), POLLIN, deadline).ok());
  EXPECT_EQ(ReadSome(client->get(), buffer, 8).state, IoResult::State::kClosed);
}

TEST(NetworkTest, SocketsAreNotInheritedByOtherPrograms) {
  SocketAddress address = *ParseNumericAddress("127.0.0.1", 0);
  const auto listener = ListenOn(&address);
  ASSERT_TRUE(listener.ok());
  const auto client = ConnectTo(address, Deadline::AfterMs(10000));
  ASSERT_TRUE(client.ok());
  EXPECT_NE(fcntl(listener->get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(fcntl(client->get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(fcntl(client->get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(NetworkTest, ErrorsNameTheAddress) {
  SocketAddress address = *ParseNumericAddress("127.0.0.1", 0);
  {
    const auto listener = ListenOn(&address);
    ASSERT_TRUE(listener.ok());
    SocketAddress taken = address;
    const auto second = ListenOn(&taken);
    ASSERT_FALSE(second.ok());
    EXPECT_NE(second.status().message().find(address.ToString()),
              std::string::npos);
  }
  const auto refused = ConnectTo(address, Deadline::AfterMs(10000));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find(address.ToString()),
            std::string::npos);
}

TEST(NetworkTest, WaitingEndsAtTheDeadline) {
  SocketAddress address = *ParseNumericAddress("127.0.0.1", 0);
  const auto listener = ListenOn(&address);
  ASSERT_TRUE(listener.ok());
  EXPECT_EQ(WaitReady(listener->get(), POLLIN, Deadline::AfterMs(20)).code(),
            Code::kTimeout);
}

}  // namespace
}  // namespace rondo
