// The table and the JSON of `rondo perf net`.
#include "perf/net/net_result.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace rondo::perf {
namespace {

using Json = nlohmann::json;

NetRun SampleRun() {
  NetRun run;
  run.plugin = "Rondo";
  run.plugin_path = "libnccl-net-rondo.so";
  run.plugin_version = 12;
  run.device = "lo";
  run.transport = "tcp";
  run.alternations = 5;
  NetCell bandwidth;
  bandwidth.bytes = 1024;
  bandwidth.plugin = 1.5;
  bandwidth.raw = 3.0;
  bandwidth.messages = 100;
  bandwidth.longest = {2500, 1500};
  NetCell latency;
  latency.test = NetTest::kLatency;
  latency.bytes = 8;
  latency.plugin = 12;
  latency.plugin_p99 = 40;
  run.cells = {bandwidth, latency};
  return run;
}

TEST(NetJsonTest, NamesFiguresByTestAndUnit) {
  const Json json = Json::parse(NetJson(SampleRun()));
  EXPECT_EQ(json["plugin"], "Rondo");
  EXPECT_EQ(json["plugin_version"], 12);
  EXPECT_EQ(json["device"], "lo");
  EXPECT_EQ(json["window"], 8);
  const Json& bandwidth = json["results"][0];
  EXPECT_EQ(bandwidth["test"], "bandwidth");
  EXPECT_EQ(bandwidth["plugin_gbs"], 1.5);
  EXPECT_EQ(bandwidth["raw_gbs"], 3.0);
  EXPECT_EQ(bandwidth["ratio"], 0.5);
  EXPECT_EQ(bandwidth["longest_call_us"], 2.5);
  EXPECT_EQ(bandwidth["longest_call_cpu_us"], 1.5);
  EXPECT_FALSE(bandwidth.contains("plugin_us"));
}

TEST(NetJsonTest, RawAndRatioAreNullWhereNothingWasCompared) {
  const Json latency = Json::parse(NetJson(SampleRun()))["results"][1];
  EXPECT_EQ(latency["test"], "latency");
  EXPECT_EQ(latency["plugin_us"], 12.0);
  EXPECT_EQ(latency["plugin_p99_us"], 40.0);
  EXPECT_TRUE(latency["raw_us"].is_null());
  EXPECT_TRUE(latency["ratio"].is_null());
}

TEST(NetTextTest, SaysWhyThereIsNothingToCompareWith) {
  NetRun run = SampleRun();
  run.raw_missing = "no ucx_perftest in PATH";
  EXPECT_NE(NetPreamble(run).find("# Raw: no ucx_perftest in PATH\n"),
            std::string::npos);
}

TEST(NetTextTest, CountsWrongBytesOverAllSizes) {
  NetRun run = SampleRun();
  EXPECT_NE(NetSummary(run).find("Wrong bytes : 0 OK"), std::string::npos);
  run.cells[0].wrong_bytes = 2;
  run.cells[1].wrong_bytes = 3;
  EXPECT_EQ(WrongBytes(run), 5);
  EXPECT_NE(NetSummary(run).find("Wrong bytes : 5 FAILED"), std::string::npos);
}

TEST(MedianTest, IsTheMiddleOrTheMeanOfTheTwoMiddles) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 3, 2}), 2.5);
}

}  // namespace
}  // namespace rondo::perf
