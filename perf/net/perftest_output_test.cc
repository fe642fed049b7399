// Captured output of ucx_perftest, of releases that print it differently.
#include "perf/net/perftest_output.h"

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

// UCX 1.13.1, tag_bw -s 1024 -n 20000 -f; the table's rules and its head are
// cut to fit.
constexpr char kBandwidth113[] =
    "+--------------+--------------+------------------------------+-----------"
    "\n"
    "|     Test     | # iterations | 50.0%ile | average | overall |  average "
    "|\n"
    "+--------------+--------------+----------+---------+---------+----------+"
    "\n"
    "                       20000      7.898     5.928     5.928      164.75"
    "     164.75      168702      168702\n";

// UCX 1.13.1, tag_lat -s 1024 -n 20000 -f: average and overall differ.
constexpr char kLatency113[] =
    "|     Test     | # iterations | 50.0%ile | average | overall |  average "
    "|\n"
    "+--------------+--------------+----------+---------+---------+----------+"
    "\n"
    "                       20000     10.339    31.575   142.824       30.93"
    "       6.84       31671        7002\n";

TEST(ParsePerftestTest, ReadsBandwidthInDecimalGigabytes) {
  const Result<PerftestFigures> figures = ParsePerftest(kBandwidth113);
  ASSERT_TRUE(figures.ok()) << figures.status().message();
  EXPECT_EQ(figures->iterations, 20000);
  // The printed rate of 168702 messages of 1024 bytes says the same.
  EXPECT_NEAR(figures->overall_gbs, 168702 * 1024 / 1e9, 1e-5);
}

TEST(ParsePerftestTest, ReadsTheMedianLatencyAndNotTheAverage) {
  const Result<PerftestFigures> figures = ParsePerftest(kLatency113);
  ASSERT_TRUE(figures.ok()) << figures.status().message();
  EXPECT_DOUBLE_EQ(figures->median_us, 10.339);
  EXPECT_DOUBLE_EQ(figures->overall_us, 142.824);
}

TEST(ParsePerftestTest, SkipsWhatStandsBeforeTheFigures) {
  for (const char* prefix : {"Final:", "[thread 0]", "[1700000000.5] Final:"}) {
    const std::string line =
        std::string(prefix) +
        " 1000 1.500 1.600 1.700 610.35 574.45 625000 588235\n";
    const Result<PerftestFigures> figures = ParsePerftest(line);
    ASSERT_TRUE(figures.ok()) << prefix;
    EXPECT_EQ(figures->iterations, 1000) << prefix;
    EXPECT_DOUBLE_EQ(figures->median_us, 1.5) << prefix;
  }
}

TEST(ParsePerftestTest, TakesTheLastOfSeveralLines) {
  const Result<PerftestFigures> figures =
      ParsePerftest("[thread 0] 100 9 9 9 9 9 9 9\nFinal: 200 4 4 4 4 4 4 4\n");
  ASSERT_TRUE(figures.ok());
  EXPECT_EQ(figures->iterations, 200);
}

TEST(ParsePerftestTest, QuotesTextWithoutFigures) {
  const Result<PerftestFigures> figures =
      ParsePerftest("[1] UCX ERROR no usable transports\n 1 2 3\n");
  ASSERT_FALSE(figures.ok());
  EXPECT_EQ(figures.status().code(), Code::kTransport);
  EXPECT_NE(figures.status().message().find("no usable transports"),
            std::string::npos);
}

}  // namespace
}  // namespace rondo::perf
