// The checks of a net plugin, checked: they pass a good plugin and find each
// fault of a bad one.
#include "plugin/check/conformance.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transports/base/environment.h"

namespace rondo::plugin {
namespace {

std::string PathOf(const char* name) {
  return "./" + EnvironmentReader::FromProcess().Get(name).value_or("");
}

ConformanceOptions OurPlugin() {
  ConformanceOptions options;
  options.path = PathOf("RONDO_TEST_PLUGIN");
  options.environment = {"RONDO_NET_DEVICES=lo", "NCCL_PROTO=Simple"};
  options.failing_environment = "RONDO_NET_DEVICES=no-such-device";
  return options;
}

void ExpectAllPassed(const ConformanceOptions& options) {
  const auto rows = RunConformance(options);
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  EXPECT_FALSE(rows->empty());
  for (const ConformanceRow& row : *rows) {
    EXPECT_EQ(row.outcome, Outcome::kPassed)
        << "v" << row.version << " " << row.check << ": " << row.detail;
  }
}

TEST(ConformanceTest, OurPluginPassesEveryCheckInEveryVersion) {
  for (int version = 8; version <= 12; ++version) {
    ConformanceOptions options = OurPlugin();
    options.version = version;
    ExpectAllPassed(options);
  }
}

TEST(ConformanceTest, OurPluginPassesOverSharedMemory) {
  for (const char* transports : {"posix,cma,self", "sysv,self"}) {
    ConformanceOptions options = OurPlugin();
    options.version = 12;
    options.environment.push_back(std::string("RONDO_UCX_TLS=") + transports);
    SCOPED_TRACE(transports);
    ExpectAllPassed(options);
  }
}

struct SeededFault {
  const char* fault;
  const char* check;
};

constexpr SeededFault kFaults[] = {
    {"waiting-connect", "handshake-in-one-thread"},
    {"comm-not-written", "handshake-in-one-thread"},
    {"impatient-connect", "connect-long-before-accept"},
    {"needs-device-handle", "null-device-handles"},
    {"null-listener", "listen-without-accept"},
    {"posted-size", "sizes"},
    {"writes-past-end", "sizes"},
    {"loses-empty-messages", "sizes"},
    {"crash", "sizes"},
    {"truncates", "oversize-send"},
    {"error-when-full", "many-in-flight"},
    {"request-not-written", "idle-receiver"},
    {"flips-a-byte", "order-of-a-tag"},
    {"swaps-tags", "groups"},
    {"swaps-equal-tags", "equal-tags-in-a-group"},
    {"strict-tag-order", "interleaved-groups"},
    {"keeps-marker", "optional-completion"},
    {"needs-sizes", "null-sizes"},
    {"flips-a-byte", "two-processes"},
    {"holds-last-send", "sender-stops-calling"},
    {"impatient-send", "idle-receiver"},
    {"deaf-to-death", "killed-receiver"},
    {"deaf-to-death", "killed-sender"},
    {"close-fails-in-flight", "close-in-flight"},
    {"slow-close", "close-orders"},
    {"null-memory-handle", "registration"},
    {"no-small-memory", "registration"},
    {"one-deregistration", "overlapping-registration"},
    {"any-memory-type", "wrong-memory-type"},
    {"pretends-dma-buf", "dma-buf"},
    {"unset-field", "properties"},
    {"garbage-members", "properties"},
    {"no-limit", "properties"},
    {"changing-guid", "properties"},
    {"any-device", "device-range"},
    {"growing-devices", "device-range"},
    {"flush-not-written", "flush"},
    {"flush-one-only", "flush"},
    {"upset-by-attributes", "attributes"},
    {"sleeps-in-test", "bounded-calls"},
    {"computes-in-test", "bounded-calls"},
    {"one-thread-only", "threads"},
    {"silent-failure", "failed-init"},
    {"finalize-crashes", "failed-init"},
    {"thread-left", "reload"},
    {"file-left", "reload"},
};

ConformanceOptions BadPlugin(const std::string& fault) {
  ConformanceOptions options = OurPlugin();
  options.path = PathOf("RONDO_TEST_BAD_PLUGIN");
  options.environment.push_back("RONDO_BAD_PLUGIN_BASE=" +
                                PathOf("RONDO_TEST_PLUGIN"));
  options.environment.push_back("RONDO_BAD_PLUGIN_FAULT=" + fault);
  return options;
}

TEST(ConformanceTest, FindsEverySeededFault) {
  for (const SeededFault& seeded : kFaults) {
    ConformanceOptions options = BadPlugin(seeded.fault);
    options.checks = {seeded.check};
    const auto rows = RunConformance(options);
    ASSERT_TRUE(rows.ok()) << rows.status().ToString();
    EXPECT_EQ(rows->front().outcome, Outcome::kFailed)
        << seeded.fault << " was not found by " << seeded.check;
    EXPECT_FALSE(rows->front().detail.empty()) << seeded.fault;
  }
}

TEST(ConformanceTest, FaultsAreWhatTheChecksFind) {
  for (const SeededFault& seeded : kFaults) {
    ConformanceOptions options = BadPlugin("");
    options.checks = {seeded.check};
    // Threads of the checks may meet in the bad plugin's own notes.
    if (options.checks.front() == "threads") continue;
    SCOPED_TRACE(seeded.check);
    ExpectAllPassed(options);
  }
}

TEST(ConformanceTest, ReportsAHangAtTheDeadline) {
  ConformanceOptions options = BadPlugin("hangs");
  options.checks = {"null-sizes"};
  options.timeout_s = 3;
  const auto rows = RunConformance(options);
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  EXPECT_EQ(rows->front().outcome, Outcome::kFailed);
  EXPECT_NE(rows->front().detail.find("hung"), std::string::npos)
      << rows->front().detail;
}

TEST(ConformanceTest, RefusesWhatIsNoPlugin) {
  ConformanceOptions options = OurPlugin();
  options.path = "./no-such-plugin.so";
  EXPECT_EQ(RunConformance(options).status().code(), Code::kInvalidArgument);
  options.path = "libm.so.6";
  EXPECT_NE(RunConformance(options).status().message().find("no net plugin"),
            std::string::npos);
}

TEST(ConformanceTest, RefusesUnknownChecksAndVersions) {
  ConformanceOptions options = OurPlugin();
  options.checks = {"no-such-check"};
  EXPECT_EQ(RunConformance(options).status().code(), Code::kInvalidArgument);
  options = OurPlugin();
  options.failing_environment = "NOT_A_SETTING";
  EXPECT_EQ(RunConformance(options).status().code(), Code::kInvalidArgument);
  options = BadPlugin("");
  options.version = 9;
  EXPECT_NE(RunConformance(options).status().message().find("version 9"),
            std::string::npos);
}

}  // namespace
}  // namespace rondo::plugin
