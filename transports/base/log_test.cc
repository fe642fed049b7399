#include "transports/base/log.h"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transports/base/environment.h"
#include "transports/base/host_name.h"

namespace rondo {
namespace {

// Collects what reaches the sink, and puts everything back afterwards.
class LogTest : public testing::Test {
 protected:
  void SetUp() override {
    SetLogSink([this](const LogRecord& record) {
      messages_.emplace_back(record.message);
      ranks_.push_back(record.rank);
    });
  }
  void TearDown() override {
    SetLogSink({});
    SetLogRank(-1);
    EXPECT_TRUE(ConfigureLogging(Parameters()).ok());
  }

  static void Configure(
      const std::vector<std::pair<std::string, std::string>>& settings) {
    Parameters parameters;
    for (const auto& [name, text] : settings) {
      ASSERT_TRUE(parameters.Set(name, text, "test").ok()) << name;
    }
    const Status configured = ConfigureLogging(parameters);
    ASSERT_TRUE(configured.ok()) << configured.ToString();
  }

  std::vector<std::string> messages_;
  std::vector<int> ranks_;
};

using Messages = std::vector<std::string>;

void LogAtEveryLevel() {
  RONDO_LOG_VERSION("version");
  RONDO_LOG_WARN("warn");
  RONDO_LOG_INFO(INIT, "info");
  RONDO_LOG_TRACE(INIT, "trace");
}

TEST_F(LogTest, EachLevelIncludesThoseBeforeIt) {
  const std::vector<std::pair<std::string, Messages>> cases = {
      {"none", {}},
      {"version", {"version"}},
      {"warn", {"version", "warn"}},
      {"info", {"version", "warn", "info"}},
      {"trace", {"version", "warn", "info", "trace"}}};
  for (const auto& [level, expected] : cases) {
    messages_.clear();
    Configure({{"DEBUG", level}});
    LogAtEveryLevel();
    EXPECT_EQ(messages_, expected) << level;
  }
}

TEST_F(LogTest, SubsystemsAreChosenOrExcluded) {
  const auto log = [] {
    RONDO_LOG_INFO(INIT, "init");
    RONDO_LOG_INFO(NET, "net");
    RONDO_LOG_INFO(COLL, "coll");
    RONDO_LOG_WARN("warn");
  };
  const std::vector<std::pair<std::string, Messages>> cases = {
      {"", {"init", "net", "coll", "warn"}},
      {"NET", {"net", "warn"}},
      {"net,COLL", {"net", "coll", "warn"}},
      {"^NET", {"init", "coll", "warn"}},
      {"^NET,INIT", {"coll", "warn"}}};
  for (const auto& [subsystems, expected] : cases) {
    messages_.clear();
    Configure({{"DEBUG", "info"}, {"DEBUG_SUBSYS", subsystems}});
    log();
    EXPECT_EQ(messages_, expected) << subsystems;
  }
}

TEST_F(LogTest, WarningsPassEvenWhenNoSubsystemIsChosen) {
  SetLogLevel(LogLevel::kInfo, 0);
  RONDO_LOG_WARN("warn");
  RONDO_LOG_INFO(NET, "net");
  EXPECT_EQ(messages_, Messages{"warn"});
}

TEST_F(LogTest, WhatIsOffEvaluatesNoArgument) {
  Configure({{"DEBUG", "warn"}});
  int evaluations = 0;
  RONDO_LOG_INFO(NET, "{}", ++evaluations);
  EXPECT_EQ(evaluations, 0);
  RONDO_LOG_WARN("{}", ++evaluations);
  EXPECT_EQ(evaluations, 1);
}

TEST_F(LogTest, ThreadsCarryTheirOwnRankAndFallBackToTheProcess) {
  Configure({{"RANK", "7"}});
  RONDO_LOG_WARN("process");
  SetLogRank(2);
  RONDO_LOG_WARN("thread");
  std::thread([] { RONDO_LOG_WARN("other thread"); }).join();
  SetLogRank(-1);
  RONDO_LOG_WARN("process again");
  EXPECT_EQ(ranks_, (std::vector<int>{7, 2, 7, 7}));
}

TEST_F(LogTest, ErrnoSurvivesLogging) {
  SetLogSink([](const LogRecord&) { errno = EIO; });
  errno = ENOENT;
  RONDO_LOG_WARN("x");
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(LogTest, ASinkMayLogAndReplaceItself) {
  int calls = 0;
  SetLogSink([&](const LogRecord&) {
    if (++calls > 1) return;
    RONDO_LOG_WARN("from the sink");
    SetLogSink({});
  });
  RONDO_LOG_WARN("x");
  EXPECT_EQ(calls, 2);
}

TEST_F(LogTest, AMessageThatCannotBeFormattedIsReportedNotThrown) {
  const int bad_width = -1;
  testing::internal::CaptureStderr();
  RONDO_LOG_WARN("{:{}}", 1, bad_width);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("log_test.cc"), std::string::npos) << text;
  EXPECT_NE(text.find("a message was lost"), std::string::npos) << text;
  EXPECT_TRUE(messages_.empty());
}

TEST_F(LogTest, ParametersAreLoggedWithTheirSourceAndWarnings) {
  Configure({{"DEBUG", "info"}});
  const auto parameters = Parameters::Load(
      EnvironmentReader({{"RONDO_TIMEOUT_MS", "9"}, {"RONDO_TIMEOUT_M", "9"}}));
  ASSERT_TRUE(parameters.ok());
  LogParameters(*parameters);
  EXPECT_EQ(messages_,
            (Messages{"unknown parameter RONDO_TIMEOUT_M in the environment is "
                      "ignored; did you mean RONDO_TIMEOUT_MS?",
                      "RONDO_TIMEOUT_MS set to '9' by environment"}));
}

// The tests below write lines, without a sink.
class LogLineTest : public LogTest {
 protected:
  void SetUp() override {}

  static std::vector<std::string> LinesOf(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
};

TEST_F(LogLineTest, ALineHasTheOrderOfNccl) {
  Configure({{"DEBUG", "info"}});
  SetLogRank(3);
  testing::internal::CaptureStderr();
  RONDO_LOG_INFO(NET, "lane {} on {}", 0, "eth0");
  RONDO_LOG_WARN("careful");
  const std::string text = testing::internal::GetCapturedStderr();
  const std::string expected =
      "[^ :]+:[0-9]+:[0-9]+ \\[3\\] transports/base/log_test\\.cc:[0-9]+ "
      "RONDO INFO lane 0 on eth0\n"
      "[^ :]+:[0-9]+:[0-9]+ \\[3\\] transports/base/log_test\\.cc:[0-9]+ "
      "RONDO WARN careful\n";
  EXPECT_THAT(text, testing::MatchesRegex(expected));
  EXPECT_EQ(text.rfind(HostName() + ":" + std::to_string(getpid()) + ":", 0),
            0u);
}

TEST_F(LogLineTest, AnUnknownRankIsADash) {
  testing::internal::CaptureStderr();
  RONDO_LOG_WARN("x");
  EXPECT_NE(testing::internal::GetCapturedStderr().find(" [-] "),
            std::string::npos);
}

TEST_F(LogLineTest, TheFileIsNamedAfterHostAndProcessAndAppendedTo) {
  const std::string path = testing::TempDir() + "/rondo." + HostName() + "." +
                           std::to_string(getpid()) + ".log";
  unlink(path.c_str());
  const std::string pattern = testing::TempDir() + "/rondo.%h.%p.log";
  for (const char* message : {"one", "two"}) {
    Configure({{"DEBUG_FILE", pattern}});
    RONDO_LOG_WARN("{}", message);
  }
  Configure({});  // back to standard error
  EXPECT_EQ(LinesOf(path).size(), 2u);
  unlink(path.c_str());
}

TEST_F(LogLineTest, AFileThatCannotBeOpenedIsAnErrorAndChangesNothing) {
  Configure({{"DEBUG", "info"}});
  Parameters parameters;
  parameters.debug = "none";
  parameters.debug_file = "/absent/rondo.log";
  const Status absent = ConfigureLogging(parameters);
  EXPECT_EQ(absent.code(), Code::kSystem);
  EXPECT_NE(absent.message().find("RONDO_DEBUG_FILE"), std::string::npos);
  EXPECT_NE(absent.message().find("/absent/rondo.log"), std::string::npos);
  parameters.debug_file = "x.%z";
  EXPECT_NE(ConfigureLogging(parameters).message().find("%z"),
            std::string::npos);
  testing::internal::CaptureStderr();
  RONDO_LOG_INFO(NET, "still here");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("still here"),
            std::string::npos);
}

TEST_F(LogLineTest, LinesOfManyThreadsStayWhole) {
  const std::string path = testing::TempDir() + "/threads.log";
  unlink(path.c_str());
  Configure({{"DEBUG_FILE", path}});
  constexpr int kThreads = 4;
  constexpr int kLines = 500;
  const std::string filler(300, 'x');
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t, &filler] {
      SetLogRank(t);
      for (int i = 0; i < kLines; ++i) RONDO_LOG_WARN("{} {} end", t, filler);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Configure({});
  const auto lines = LinesOf(path);
  EXPECT_EQ(lines.size(), size_t{kThreads * kLines});
  for (const std::string& line : lines) {
    const size_t label = line.find('[');
    ASSERT_NE(label, std::string::npos) << line;
    const std::string rank = line.substr(label + 1, 1);
    const std::string tail = "WARN " + rank + " " + filler + " end";
    ASSERT_GE(line.size(), tail.size());
    EXPECT_EQ(line.substr(line.size() - tail.size()), tail);
  }
  unlink(path.c_str());
}

}  // namespace
}  // namespace rondo
