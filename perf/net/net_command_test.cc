// `rondo perf net` as a user runs it, on loopback: over our own plugin, and
// over one that knows nothing of UCX and can be told to spoil what it carries.
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "perf/end_to_end/command_runner.h"

namespace rondo::perf {
namespace {

using Json = nlohmann::json;

constexpr char kPlugin[] = "plugin/libnccl-net-rondo.so";
constexpr char kSocketPlugin[] = "tests/plugin/socket/libbad_plugin.so";

std::vector<std::string> Words(std::vector<std::string> more,
                               const char* plugin = kPlugin) {
  std::vector<std::string> words = {
      "perf",           "net", "--plugin",  plugin, "--device", "lo",
      "--alternations", "2",   "--time-ms", "5"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(NetCommandTest, MeasuresAndChecksEverySize) {
  const std::string path = NewPath("net.json");
  const Finished run =
      RunRondo(Words({"-b", "1000", "-e", "100000", "-f", "10", "-J", path}));
  ASSERT_EQ(run.exit_status, 0) << run.standard_error;
  const Json json = Json::parse(FileText(path));
  EXPECT_EQ(json["plugin"], "Rondo");
  EXPECT_EQ(json["plugin_version"], 12);
  EXPECT_EQ(json["device"], "lo");
  ASSERT_EQ(json["results"].size(), 6u);
  const bool compared = json["raw_missing"] == "";
  for (const Json& cell : json["results"]) {
    const bool bandwidth = cell["test"] == "bandwidth";
    EXPECT_GT(cell[bandwidth ? "plugin_gbs" : "plugin_us"], 0) << cell;
    EXPECT_EQ(cell["wrong_bytes"], 0) << cell;
    EXPECT_GT(cell["longest_call_us"], 0) << cell;
    EXPECT_EQ(cell["ratio"].is_number(), compared) << cell;
  }
}

TEST(NetCommandTest, DrivesAnOlderVersionToo) {
  const std::string path = NewPath("net.json");
  const Finished run = RunRondo(Words(
      {"--version", "8", "--raw", "0", "-b", "64", "-e", "64", "-J", path}));
  ASSERT_EQ(run.exit_status, 0) << run.standard_error;
  const Json json = Json::parse(FileText(path));
  EXPECT_EQ(json["plugin_version"], 8);
  EXPECT_TRUE(json["results"][0]["ratio"].is_null());
}

TEST(NetCommandTest, MeasuresAPluginThatIsNotOurs) {
  const std::string path = NewPath("net.json");
  const Finished run = RunRondo(Words(
      {"--raw", "0", "-b", "1000", "-e", "1000", "-J", path}, kSocketPlugin));
  ASSERT_EQ(run.exit_status, 0) << run.standard_error;
  const Json json = Json::parse(FileText(path));
  EXPECT_EQ(json["plugin"], "Bad");
  ASSERT_EQ(json["results"].size(), 2u);
  for (const Json& cell : json["results"]) {
    EXPECT_EQ(cell["wrong_bytes"], 0) << cell;
  }
}

TEST(NetCommandTest, FailsWhenAByteIsWrong) {
  const std::string path = NewPath("net.json");
  const Finished run = RunRondo(Words({"--raw", "0", "--test", "bandwidth",
                                       "-b", "1Mi", "-e", "1Mi", "-J", path},
                                      kSocketPlugin),
                                {{"RONDO_BAD_PLUGIN_FAULT", "corrupts-large"}});
  EXPECT_EQ(run.exit_status, 1) << run.standard_error;
  // The last byte of each of the window's messages, in both directions.
  EXPECT_EQ(Json::parse(FileText(path))["results"][0]["wrong_bytes"], 16);
  EXPECT_NE(run.standard_output.find("Wrong bytes : 16 FAILED"),
            std::string::npos)
      << run.standard_output;
}

TEST(NetCommandTest, LeavesTheRawColumnEmptyWithoutPerftest) {
  const Finished run =
      RunRondo(Words({"--test", "latency", "-b", "8", "-e", "8"}),
               {{"PATH", "/nowhere"}});
  EXPECT_EQ(run.exit_status, 0) << run.standard_error;
  EXPECT_NE(run.standard_output.find("# Raw: no ucx_perftest in PATH"),
            std::string::npos)
      << run.standard_output;
}

TEST(NetCommandTest, SaysThatThePluginIsNotThere) {
  const Finished run = RunRondo({"perf", "net", "--plugin", "/no/such.so"});
  EXPECT_NE(run.exit_status, 0);
  EXPECT_NE(run.standard_error.find("/no/such.so"), std::string::npos)
      << run.standard_error;
}

TEST(NetCommandTest, NamesTheDevicesThatThereAre) {
  const Finished run =
      RunRondo({"perf", "net", "--plugin", kPlugin, "--device", "99"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_NE(run.standard_error.find("--device \"99\" is refused"),
            std::string::npos)
      << run.standard_error;
}

}  // namespace
}  // namespace rondo::perf
