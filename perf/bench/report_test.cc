#include <algorithm>
#include <sstream>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "perf/bench/csv_report.h"
#include "perf/bench/json_report.h"
#include "perf/bench/table.h"

namespace rondo::perf {
namespace {

Measurement Measured(double mean_us, double alg_bw, double bus_bw,
                     std::optional<int64_t> wrong) {
  Measurement measured;
  measured.times = {mean_us, 1, 99, 2, 3, 4, 5, 6};
  measured.alg_bw = alg_bw;
  measured.bus_bw = bus_bw;
  measured.wrong = wrong;
  return measured;
}

BenchmarkRun SomeRun() {
  BenchmarkRun run;
  run.collective = "reduce_scatter";
  run.start_time = "2031-01-31 23:59:58";
  run.end_time = "2031-01-31 23:59:59";
  run.arguments = {"rondo", "perf", "reduce_scatter"};
  run.environment = {"RONDO_DEBUG=warn"};
  run.transport = "a transport";
  run.ranks = {{0, 0, 4711, "alpha"}, {1, 1, 4712, "beta"}};
  run.hosts = 2;
  run.sweep = {.min_bytes = 1024, .max_bytes = 4096, .factor = 4};
  run.iterations = 20;
  run.warmup_iterations = 1;
  run.rows.push_back({1024, 128, "float", "sum", -1,
                      Measured(12.345, 0.5, 0.25, 0),
                      Measured(123456.7, 2, 1, 3)});
  return run;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(TableTest, NumbersKeepTheirWidth) {
  EXPECT_EQ(FixedWidth(0.1234, 6), "0.12");
  EXPECT_EQ(FixedWidth(12.345, 6), "12.35");
  EXPECT_EQ(FixedWidth(123.45, 6), "123.5");
  EXPECT_EQ(FixedWidth(1234.5, 6), "1234");
  EXPECT_EQ(FixedWidth(1234567, 6), "1234567");
}

TEST(TableTest, RowHasNcclTestsColumns) {
  EXPECT_EQ(RowText(SomeRun().rows[0], false),
            "        1024           128     float     sum      -1"
            "     12.35    0.50    0.25       0"
            "    123457    2.00    1.00       3\n");
}

TEST(TableTest, ColumnsStandUnderTheirTitles) {
  for (bool percentiles : {false, true}) {
    const auto header = Lines(HeaderText(percentiles));
    const std::string row = Lines(RowText(SomeRun().rows[0], percentiles))[0];
    ASSERT_EQ(header.size(), 4u);
    EXPECT_EQ(header[2].size(), row.size());
    EXPECT_EQ(header[3].size(), row.size());
    // Right-aligned columns end where their titles end.
    for (const char* title : {"size", "count", "type", "redop", "root"}) {
      const size_t end = header[2].find(title) + std::string(title).size() - 1;
      EXPECT_NE(row[end], ' ') << title;
      EXPECT_EQ(row[end + 1], ' ') << title;
    }
    for (const std::string& line : header) EXPECT_EQ(line[0], '#');
  }
}

TEST(TableTest, PercentilesWidenBothHalves) {
  const std::string header = HeaderText(true);
  for (const char* title : {"p50", "p95", "p99"}) {
    const size_t first = header.find(title);
    ASSERT_NE(first, std::string::npos);
    EXPECT_NE(header.find(title, first + 1), std::string::npos);
    EXPECT_EQ(HeaderText(false).find(title), std::string::npos);
  }
  EXPECT_NE(
      RowText(SomeRun().rows[0], true).find("    2.00      3.00      4.00"),
      std::string::npos);
}

TEST(TableTest, UncheckedIsNotApplicable) {
  ResultRow row = SomeRun().rows[0];
  row.out_of_place.wrong.reset();
  EXPECT_NE(RowText(row, false).find("N/A"), std::string::npos);
  BenchmarkRun run = SomeRun();
  run.check = false;
  EXPECT_NE(SummaryText(run).find("Out of bounds values : not checked"),
            std::string::npos);
}

TEST(TableTest, PreambleSaysWhoAndHow) {
  const std::string text = PreambleText(SomeRun());
  EXPECT_NE(text.find("perf reduce_scatter"), std::string::npos);
  EXPECT_NE(text.find("ranks 2 hosts 2 minBytes 1024 maxBytes 4096 step: "
                      "4(factor) warmup iters: 1 iters: 20 validation: 1"),
            std::string::npos);
  EXPECT_NE(text.find("# Transport: a transport\n"), std::string::npos);
  EXPECT_NE(text.find("#  Rank  1 Pid   4712 on beta (host 1)\n"),
            std::string::npos);
  for (const std::string& line : Lines(text)) EXPECT_EQ(line[0], '#');
}

TEST(TableTest, SummaryCountsBothPlacements) {
  EXPECT_EQ(SummaryText(SomeRun()),
            "# Out of bounds values : 3 FAILED\n"
            "# Avg bus bandwidth    : 0.625\n#\n");
  BenchmarkRun right = SomeRun();
  right.rows[0].in_place.wrong = 0;
  EXPECT_NE(SummaryText(right).find("values : 0 OK\n"), std::string::npos);
}

TEST(JsonReportTest, HasNcclTestsKeysInOrder) {
  const auto report = nlohmann::ordered_json::parse(JsonReport(SomeRun()));
  std::vector<std::string> keys;
  for (const auto& [key, value] : report.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{
                      "version", "rondo_version", "start_time", "args", "env",
                      "transport", "devices", "config", "results",
                      "out_of_bounds", "average_bus_bandwidth", "end_time"}));
  EXPECT_EQ(report["devices"][1]["hostname"], "beta");
  EXPECT_EQ(report["devices"][1]["pid"], 4712);
  EXPECT_EQ(report["config"]["step_factor"], 4);
  EXPECT_FALSE(report["config"].contains("step_bytes"));
  EXPECT_EQ(report["out_of_bounds"]["okay"], false);
}

TEST(JsonReportTest, RowsCarryEveryFigure) {
  const auto report = nlohmann::json::parse(JsonReport(SomeRun()));
  const auto row = report["results"][0];
  EXPECT_EQ(row["size"], 1024);
  EXPECT_EQ(row["count"], 128);
  EXPECT_EQ(row["type"], "float");
  EXPECT_EQ(row["redop"], "sum");
  EXPECT_EQ(row["root"], -1);
  EXPECT_EQ(row["out_of_place"]["nwrong"], 0);
  EXPECT_EQ(row["in_place"]["nwrong"], 3);
  EXPECT_DOUBLE_EQ(row["out_of_place"]["time"], 12.345);
  EXPECT_DOUBLE_EQ(row["in_place"]["bus_bw"], 1);
  const auto times = row["in_place"]["per_iter"];
  EXPECT_DOUBLE_EQ(times["min_us"], 1);
  EXPECT_DOUBLE_EQ(times["p50_us"], 2);
  EXPECT_DOUBLE_EQ(times["p95_us"], 3);
  EXPECT_DOUBLE_EQ(times["p99_us"], 4);
  EXPECT_DOUBLE_EQ(times["stdev_us"], 5);
  EXPECT_DOUBLE_EQ(times["cv_pct"], 6);
}

TEST(JsonReportTest, UncheckedIsNullAndForeignBytesAreKeptOut) {
  BenchmarkRun run = SomeRun();
  run.rows[0].in_place.wrong.reset();
  run.environment = {"RONDO_X=\xff\"quoted\""};
  const auto report = nlohmann::json::parse(JsonReport(run));
  EXPECT_TRUE(report["results"][0]["in_place"]["nwrong"].is_null());
  EXPECT_NE(report["env"][0].get<std::string>().find("\"quoted\""),
            std::string::npos);
}

TEST(CsvReportTest, OneLineForEachPlacement) {
  const auto lines = Lines(CsvReport(SomeRun()));
  ASSERT_EQ(lines.size(), 3u);
  const auto fields = [](const std::string& line) {
    return std::count(line.begin(), line.end(), ',');
  };
  EXPECT_EQ(fields(lines[0]), fields(lines[1]));
  EXPECT_EQ(lines[1],
            "reduce_scatter,2,1024,128,float,sum,-1,out_of_place,12.345,0.5000,"
            "0.2500,0,1.000,99.000,2.000,3.000,4.000,5.000");
  EXPECT_NE(lines[2].find(",in_place,123456.700,2.0000,1.0000,3,"),
            std::string::npos);
}

}  // namespace
}  // namespace rondo::perf
