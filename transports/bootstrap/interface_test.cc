#include "transports/bootstrap/interface.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rondo {
namespace {

Interface Make(const char* name, const char* host, bool up = true) {
  const SocketAddress address = *ParseNumericAddress(host, 0);
  return {name, address, up, address.IsLoopback()};
}

// A typical host, in an order that tests the rules.
std::vector<Interface> Host() {
  return {Make("lo", "127.0.0.1"),       Make("docker0", "172.17.0.1"),
          Make("virbr0", "192.168.1.1"), Make("eth9", "10.9.0.1", false),
          Make("ib0", "fe80::5"),        Make("eth0", "10.0.0.1"),
          Make("eth10", "10.10.0.1"),    Make("ib0", "10.1.0.1")};
}

std::string Chosen(std::string_view filter) {
  const auto chosen = ChooseInterface(filter, Host());
  return chosen.ok() ? chosen->address.ToString() : "refused";
}

TEST(InterfaceTest, DefaultIsTheFirstThatOthersCanReach) {
  EXPECT_EQ(Chosen(""), "10.0.0.1:0");
}

TEST(InterfaceTest, DefaultFallsBackToLoopback) {
  std::vector<Interface> host = Host();
  host.resize(5);
  EXPECT_EQ(ChooseInterface("", host)->name, "lo");
  EXPECT_FALSE(ChooseInterface("", {}).ok());
}

TEST(InterfaceTest, FiltersFollowNcclsHabits) {
  EXPECT_EQ(Chosen("ib"), "10.1.0.1:0");
  EXPECT_EQ(Chosen("eth1"), "10.10.0.1:0");
  EXPECT_EQ(Chosen("=eth1"), "refused");
  EXPECT_EQ(Chosen("=eth10"), "10.10.0.1:0");
  EXPECT_EQ(Chosen("ib,eth"), "10.0.0.1:0");
  EXPECT_EQ(Chosen("lo"), "127.0.0.1:0");
  EXPECT_EQ(Chosen("docker"), "172.17.0.1:0");
  EXPECT_EQ(Chosen("^docker,virbr,eth"), "10.1.0.1:0");
  EXPECT_EQ(Chosen("^=docker0,virbr0,eth0"), "10.10.0.1:0");
  EXPECT_EQ(Chosen("^docker,virbr,eth,ib"), "127.0.0.1:0");
}

TEST(InterfaceTest, RefusalNamesFilterAndChoices) {
  const auto none = ChooseInterface("wlan", Host());
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.status().message().find("'wlan'"), std::string::npos);
  EXPECT_NE(none.status().message().find("eth0 10.0.0.1"), std::string::npos);
  for (const char* filter : {"^", "=", "^=", "eth,", ",eth", "eth,,ib"}) {
    EXPECT_EQ(Chosen(filter), "refused") << filter;
  }
}

TEST(InterfaceTest, ThisMachineHasLoopback) {
  const auto found = ListInterfaces();
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(std::any_of(found->begin(), found->end(), [](const auto& entry) {
    return entry.loopback && entry.address.IsLoopback();
  }));
}

}  // namespace
}  // namespace rondo
