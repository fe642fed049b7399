#include "perf/bench/baseline.h"

#include <fstream>

#include "gtest/gtest.h"
#include "perf/bench/json_report.h"

namespace rondo::perf {
namespace {

ResultRow Row(size_t size, double out_of_place_us, double in_place_us) {
  ResultRow row;
  row.size = size;
  row.count = size / 8;
  row.type = "float";
  row.redop = "sum";
  row.out_of_place.times.mean_us = out_of_place_us;
  row.in_place.times.mean_us = in_place_us;
  return row;
}

BenchmarkRun SomeRun() {
  BenchmarkRun run;
  run.collective = "reduce_scatter";
  run.ranks = {{0, 0, 1, "a"}, {1, 0, 2, "a"}};
  run.sweep = {.min_bytes = 1024, .max_bytes = 4096, .factor = 4};
  run.rows = {Row(1024, 10, 20), Row(4096, 100, 200)};
  return run;
}

// The base that a run leaves behind.
Baseline BaseOf(const BenchmarkRun& run) {
  auto base = ParseBaseline("base.json", JsonReport(run));
  EXPECT_TRUE(base.ok()) << base.status().ToString();
  return base.ok() ? *base : Baseline();
}

std::string RefusalOf(std::string_view text) {
  return ParseBaseline("base.json", text).status().message();
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(BaselineTest, AReportIsReadBack) {
  const Baseline base = BaseOf(SomeRun());
  EXPECT_EQ(base.collective, "reduce_scatter");
  EXPECT_EQ(base.buffers, "user");
  EXPECT_EQ(base.ranks, 2);
  ASSERT_EQ(base.times_us.size(), 4u);
  EXPECT_EQ(base.times_us.at({4096, "float", "sum", -1, true}), 200);
}

TEST(BaselineTest, TheSameRunIsNotSlower) {
  const BaselineVerdict verdict =
      CompareWithBaseline(SomeRun(), BaseOf(SomeRun()), 0);
  EXPECT_EQ(verdict.slower(), 0);
  EXPECT_EQ(verdict.rows.size(), 4u);
  EXPECT_TRUE(verdict.only_in_base.empty());
  EXPECT_TRUE(verdict.only_now.empty());
  EXPECT_TRUE(
      Contains(VerdictText(verdict), "Slower than the base : 0 of 4 OK"))
      << VerdictText(verdict);
}

TEST(BaselineTest, OnlyMoreThanTheToleranceIsSlower) {
  BenchmarkRun run = SomeRun();
  run.rows[0].out_of_place.times.mean_us = 10.9;  // 9 % more
  run.rows[0].in_place.times.mean_us = 10;        // half
  run.rows[1].in_place.times.mean_us = 222;       // 11 % more
  const BaselineVerdict verdict =
      CompareWithBaseline(run, BaseOf(SomeRun()), 10);
  EXPECT_EQ(verdict.slower(), 1);
  for (const BaselineVerdict::Row& row : verdict.rows) {
    EXPECT_EQ(row.slower, row.key.size == 4096 && row.key.in_place);
  }
  const std::string text = VerdictText(verdict);
  EXPECT_TRUE(Contains(text, "222.00   +11.0 %  SLOWER")) << text;
  EXPECT_TRUE(Contains(text, "1 of 4 FAILED")) << text;
  EXPECT_EQ(CompareWithBaseline(run, BaseOf(SomeRun()), 8).slower(), 2);
}

TEST(BaselineTest, WhatIsMissingOnEitherSideIsNamed) {
  BenchmarkRun run = SomeRun();
  run.rows[0].size = 512;
  const BaselineVerdict verdict =
      CompareWithBaseline(run, BaseOf(SomeRun()), 10);
  EXPECT_EQ(verdict.rows.size(), 2u);
  EXPECT_EQ(verdict.only_in_base.size(), 2u);
  EXPECT_EQ(verdict.only_now.size(), 2u);
  EXPECT_EQ(verdict.slower(), 0);
  const std::string text = VerdictText(verdict);
  EXPECT_TRUE(Contains(text, "only in the base")) << text;
  EXPECT_TRUE(Contains(text, "not in the base")) << text;
  // Another type, reduction or root is another row.
  for (int field = 0; field < 3; ++field) {
    BenchmarkRun other = SomeRun();
    if (field == 0) other.rows[0].type = "double";
    if (field == 1) other.rows[0].redop = "max";
    if (field == 2) other.rows[0].root = 1;
    EXPECT_EQ(CompareWithBaseline(other, BaseOf(SomeRun()), 10).only_now.size(),
              2u);
  }
}

TEST(BaselineTest, AnotherCommandsReportIsRefused) {
  const Baseline base = BaseOf(SomeRun());
  EXPECT_TRUE(base.CheckSameCommand("reduce_scatter", "user").ok());
  EXPECT_TRUE(base.CheckSameRanks(2).ok());
  EXPECT_TRUE(Contains(base.CheckSameCommand("all_gather", "user").message(),
                       "of reduce_scatter, not of all_gather"));
  EXPECT_TRUE(
      Contains(base.CheckSameCommand("reduce_scatter", "other").message(),
               "--buffers user, not other"));
  EXPECT_TRUE(
      Contains(base.CheckSameRanks(3).message(), "with 2 ranks, not 3"));
}

TEST(BaselineTest, WhatIsNoReportIsRefusedWithThePath) {
  const std::string good = JsonReport(SomeRun());
  EXPECT_TRUE(Contains(RefusalOf(""), "\"base.json\": is no JSON object"));
  EXPECT_TRUE(Contains(RefusalOf("[1]"), "is no JSON object"));
  EXPECT_TRUE(Contains(RefusalOf("{\"version\": 1}"), "is no report"));
  EXPECT_TRUE(Contains(RefusalOf(good.substr(0, good.size() / 2)),
                       "is no JSON object"));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return RefusalOf(text.replace(at, from.size(), to));
  };
  EXPECT_TRUE(Contains(with("\"version\": 1", "\"version\": 7"), "version 1"));
  EXPECT_TRUE(Contains(with("\"size\": 4096", "\"size\": -1"), "result 1 has"));
  EXPECT_TRUE(Contains(with("\"time\": 10.0", "\"time\": 0"), "result 0 has"));
  EXPECT_TRUE(
      Contains(with("\"time\": 10.0", "\"time\": \"10\""), "result 0 has"));
  EXPECT_TRUE(
      Contains(with("\"ranks\": 2", "\"ranks\": null"), "does not say"));
  BenchmarkRun empty = SomeRun();
  empty.rows.clear();
  EXPECT_TRUE(Contains(RefusalOf(JsonReport(empty)), "has no results"));
}

TEST(BaselineTest, FilesAreRead) {
  const std::string path = testing::TempDir() + "/base.json";
  std::ofstream(path) << JsonReport(SomeRun());
  const auto base = LoadBaseline(path);
  ASSERT_TRUE(base.ok()) << base.status().ToString();
  EXPECT_EQ(base->times_us.size(), 4u);
  for (const std::string& bad : {path + ".not", testing::TempDir()}) {
    const auto missing = LoadBaseline(bad);
    ASSERT_FALSE(missing.ok());
    EXPECT_TRUE(Contains(missing.status().message(), bad));
    EXPECT_EQ(missing.status().code(), Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace rondo::perf
