#include "perf/compare_mpi/report.h"

#include <algorithm>
#include <sstream>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "perf/compare_mpi/svg_plot.h"

namespace rondo::perf {
namespace {

CellResult Result(Collective collective, size_t count, bool in_place,
                  double rondo_us, double mpi_us) {
  CellResult result;
  result.cell = {collective, count, in_place, BufferKind::kUser};
  result.bytes = count * 2 * sizeof(float);
  result.rondo_us = rondo_us;
  result.mpi_us = mpi_us;
  result.mpi_call = "MPI_Something";
  result.alternations = 5;
  return result;
}

ComparisonRun SomeRun() {
  ComparisonRun run;
  run.program = "vs_openmpi";
  run.arguments = {"vs_openmpi", "--ranks", "2"};
  run.mpi_name = "Open MPI";
  run.mpi_version = "Open MPI v9, <tested> & \"known\"";
  run.ucx_version = "1.2.3";
  run.transport = "a transport";
  run.cpu_model = "Some CPU";
  run.cores = 2;
  run.ranks = 2;
  run.limits.copy_gbs = 20;
  run.limits.reduce = {{2, 30, StoreHint::kStream}};
  run.results = {Result(Collective::kAllGather, 1, false, 2, 4),
                 Result(Collective::kAllGather, 3, false, 2, 6),
                 Result(Collective::kAllGather, 1 << 20, false, 1000, 800),
                 Result(Collective::kReduceScatter, 1 << 20, true, 1000, 3000)};
  run.results[2].limit_fraction = 0.75;
  run.results[3].rerun = true;
  run.results[3].alternations = 15;
  return run;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(ComparisonReportTest, TheRatioIsHowOftenRondoFitsIntoMpisTime) {
  EXPECT_DOUBLE_EQ(SomeRun().results[0].ratio(), 2);
  EXPECT_DOUBLE_EQ(SomeRun().results[2].ratio(), 0.8);
  EXPECT_DOUBLE_EQ(CellResult().ratio(), 0);  // nothing measured
}

TEST(ComparisonReportTest, BusBandwidthIsNcclTests) {
  // 8 MiB in 1 ms between 2 ranks: 8.388608 GB/s, half of it on the bus.
  EXPECT_NEAR(BusBandwidth(SomeRun().results[2], 2, 1000), 4.194304, 1e-9);
}

TEST(ComparisonReportTest, ColumnsStandUnderTheirTitles) {
  const ComparisonRun run = SomeRun();
  const std::string titles = Lines(HeaderText(run))[1];
  const std::string row = Lines(RowText(run.results[2], 2))[0];
  for (const char* title : {"size", "count", "collective", "place", "buffers",
                            "ratio", "limit", "#wrong"}) {
    const size_t end = titles.find(title) + std::string(title).size() - 1;
    EXPECT_NE(row[end], ' ') << title;
    EXPECT_EQ(row[end + 1], ' ') << title;
  }
  EXPECT_EQ(titles.find("MPI call"), row.find("MPI_Something"));
  EXPECT_NE(row.find("  0.80   0.75 "), std::string::npos) << row;
}

TEST(ComparisonReportTest, WhatWasMeasuredAgainIsMarked) {
  const ComparisonRun run = SomeRun();
  EXPECT_EQ(RowText(run.results[0], 2).find('*'), std::string::npos);
  EXPECT_NE(RowText(run.results[3], 2).find(" *\n"), std::string::npos);
}

TEST(ComparisonReportTest, ThePreambleNamesAllThatTookPart) {
  const std::string text = PreambleText(SomeRun());
  for (const char* part :
       {"against Open MPI, 2 ranks", "Open MPI v9", "UCX       : 1.2.3",
        "a transport", "Some CPU, 2 cores", "vs_openmpi --ranks 2",
        "20.0 GB/s copied (cached stores)", "reducing 2 (streaming)"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  }
  for (const std::string& line : Lines(text + HeaderText(SomeRun()))) {
    EXPECT_EQ(line[0], '#');
  }
}

TEST(ComparisonReportTest, TheSummaryNamesTheSlowestCellAndTheWrongOnes) {
  ComparisonRun run = SomeRun();
  std::string text = SummaryText(run);
  EXPECT_NE(text.find("0 OK"), std::string::npos);
  EXPECT_NE(text.find("1 of 4 below 0.9; the lowest is 0.80, user out_of_place "
                      "all_gather of 8388608 bytes"),
            std::string::npos)
      << text;
  run.results[1].wrong = 3;
  EXPECT_NE(SummaryText(run).find("3 FAILED"), std::string::npos);
  run.results.clear();
  EXPECT_EQ(SummaryText(run),
            "# Memory         : 20.0 GB/s copied, median over the run\n"
            "# Wrong elements : 0 OK\n");
}

TEST(ComparisonReportTest, TheJsonHasEveryCell) {
  const auto json = nlohmann::json::parse(ComparisonJson(SomeRun()));
  EXPECT_EQ(json["copy_gbs"], 20);
  EXPECT_EQ(json["reduce_gbs"][0]["sources"], 2);
  EXPECT_EQ(json["machine"]["cores"], 2);
  EXPECT_EQ(json["wrong"], 0);
  ASSERT_EQ(json["results"].size(), 4u);
  const auto& row = json["results"][2];
  EXPECT_EQ(row["collective"], "all_gather");
  EXPECT_EQ(row["bytes"], 8388608);
  EXPECT_EQ(row["place"], "out_of_place");
  EXPECT_EQ(row["buffers"], "user");
  EXPECT_EQ(row["ratio"], 0.8);
  EXPECT_EQ(row["limit_fraction"], 0.75);
  EXPECT_TRUE(json["results"][0]["limit_fraction"].is_null());
  EXPECT_EQ(json["results"][3]["place"], "in_place");
  EXPECT_EQ(json["results"][3]["rerun"], true);
  EXPECT_EQ(json["results"][3]["alternations"], 15);
}

TEST(ComparisonPlotTest, HasAPanelForEachCollectiveAndPlace) {
  const std::string svg = SvgPlot(SomeRun());
  // Two panels, each with a line per library and its limit.
  EXPECT_EQ(CountOf(svg, "<polyline"), 4u);
  EXPECT_EQ(CountOf(svg, "stroke-dasharray"), 2u);
  EXPECT_EQ(CountOf(svg, ">all_gather, out_of_place<"), 1u);
  EXPECT_EQ(CountOf(svg, ">reduce_scatter, in_place<"), 1u);
  EXPECT_EQ(CountOf(svg, ">reduce_scatter, out_of_place<"), 0u);
  // What is special in XML cannot end a tag.
  EXPECT_EQ(CountOf(svg, "<tested>"), 0u);
  EXPECT_EQ(CountOf(svg, "&lt;tested"), 2u - 1u);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(ComparisonPlotTest, LargerBandwidthsAreHigherUp) {
  ComparisonRun run = SomeRun();
  run.results = {Result(Collective::kAllGather, 1 << 20, false, 1000, 2000)};
  const std::string svg = SvgPlot(run);
  // y of the first line (Rondo) and of the second: "points=\"X,Y\"".
  const auto y_after = [&](size_t from) {
    const size_t comma = svg.find(',', svg.find("points=\"", from));
    return std::stod(svg.substr(comma + 1));
  };
  const size_t first = svg.find("<polyline");
  EXPECT_LT(y_after(first), y_after(svg.find("<polyline", first + 1)));
}

TEST(ComparisonPlotTest, WithoutResultsItSaysSo) {
  ComparisonRun run = SomeRun();
  run.results.clear();
  EXPECT_NE(SvgPlot(run).find("no results"), std::string::npos);
}

}  // namespace
}  // namespace rondo::perf
