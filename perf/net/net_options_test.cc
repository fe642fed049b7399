// What `rondo perf net` accepts, and what it makes of it.
#include "perf/net/net_options.h"

#include <cstdio>
#include <fstream>

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

// The options of a command line; CLI11's message where it is refused.
std::string Parse(const std::vector<std::string>& words, NetOptions* options) {
  CLI::App app;
  AddNetOptions(&app, options);
  // CLI11 takes them in reverse.
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

TEST(NetOptionsTest, VisitsEachTestsOwnSizesUnlessToldOtherwise) {
  NetOptions options;
  ASSERT_EQ(Parse({}, &options), "");
  ASSERT_TRUE(FinishNetOptions("", &options).ok());
  EXPECT_EQ(BandwidthSizes(options).front(), size_t{1} << 10);
  EXPECT_EQ(BandwidthSizes(options).back(), size_t{64} << 20);
  EXPECT_EQ(BandwidthSizes(options).size(), 17u);
  EXPECT_EQ(LatencySizes(options).front(), 8u);
  EXPECT_EQ(LatencySizes(options).back(), size_t{4} << 10);
  EXPECT_TRUE(TestsBandwidth(options) && TestsLatency(options));
}

TEST(NetOptionsTest, GivenSizesHoldForBothTests) {
  NetOptions options;
  ASSERT_EQ(Parse({"-b", "16", "-e", "1Ki", "-f", "8"}, &options), "");
  ASSERT_TRUE(FinishNetOptions("", &options).ok());
  const std::vector<size_t> sizes = {16, 128, 1024};
  EXPECT_EQ(BandwidthSizes(options), sizes);
  EXPECT_EQ(LatencySizes(options), sizes);
}

TEST(NetOptionsTest, RefusesWithTheValueAndWhatIsAccepted) {
  NetOptions options;
  EXPECT_NE(Parse({"--test", "both"}, &options).find("\"both\" is refused"),
            std::string::npos);
  EXPECT_NE(Parse({"--version", "7"}, &options).find("from 8 to 12"),
            std::string::npos);
  ASSERT_EQ(Parse({"-e", "2Gi"}, &options), "");
  const Status most = FinishNetOptions("", &options);
  EXPECT_EQ(most.code(), Code::kInvalidArgument);
  EXPECT_NE(most.message().find("2Gi"), std::string::npos);
  EXPECT_NE(most.message().find("1 to 1Gi"), std::string::npos);
}

TEST(NetOptionsTest, RefusesASmallestSizeAboveTheLargest) {
  NetOptions options;
  ASSERT_EQ(Parse({"-b", "2Ki", "-e", "1Ki"}, &options), "");
  EXPECT_NE(FinishNetOptions("", &options).message().find("2048"),
            std::string::npos);
}

TEST(NetOptionsTest, FindsOurPluginBesideTheProgram) {
  const std::string folder = testing::TempDir();
  const std::string path = folder + "/libnccl-net-rondo.so";
  std::ofstream(path) << "x";
  NetOptions options;
  ASSERT_TRUE(FinishNetOptions(folder, &options).ok());
  EXPECT_EQ(options.plugin, path);
  std::remove(path.c_str());

  NetOptions elsewhere;
  ASSERT_TRUE(FinishNetOptions(folder, &elsewhere).ok());
  EXPECT_EQ(elsewhere.plugin, "libnccl-net-rondo.so");
}

TEST(NetOptionsTest, SteersOurPluginUnlessTheEnvironmentDoes) {
  NetOptions options;
  options.device = "lo";
  options.ucx_tls = "tcp";
  const std::map<std::string, std::string> both = {{"RONDO_UCX_TLS", "tcp"},
                                                   {"RONDO_NET_DEVICES", "lo"}};
  EXPECT_EQ(PluginVariables(options, EnvironmentReader()), both);
  EXPECT_TRUE(PluginVariables(
                  options, EnvironmentReader({{"RONDO_UCX_TLS", "posix"},
                                              {"RONDO_NET_DEVICES", "eth0"}}))
                  .empty());
  options.device = "1";
  EXPECT_EQ(
      PluginVariables(options, EnvironmentReader()).count("RONDO_NET_DEVICES"),
      0u);
}

}  // namespace
}  // namespace rondo::perf
