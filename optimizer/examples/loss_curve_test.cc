#include "optimizer/examples/loss_curve.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace rondo {
namespace {

int Count(const std::string& text, const std::string& word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos;
       at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

// The points of the first polyline, "x,y x,y ...".
std::vector<std::pair<double, double>> Points(const std::string& svg) {
  std::vector<std::pair<double, double>> points;
  size_t at = svg.find("points=\"") + 8;
  for (double x, y; std::sscanf(svg.c_str() + at, "%lf,%lf", &x, &y) == 2;) {
    points.emplace_back(x, y);
    at = svg.find_first_of(" \"", at);
    if (svg[at] == '"') break;
    ++at;
  }
  return points;
}

TEST(LossCurveTest, PointsFallAsTheLossFalls) {
  const std::string svg =
      LossCurveSvg(std::vector<double>{4.5, 3.5, 2.5}, "title");
  const auto points = Points(svg);
  ASSERT_EQ(points.size(), 3u);
  // Even steps to the right, even steps down (y grows downwards), inside.
  EXPECT_NEAR(points[1].first - points[0].first,
              points[2].first - points[1].first, 0.2);
  EXPECT_NEAR(points[1].second - points[0].second,
              points[2].second - points[1].second, 0.2);
  EXPECT_GT(points[1].first, points[0].first);
  EXPECT_GT(points[1].second, points[0].second);
  for (const auto& [x, y] : points) {
    EXPECT_TRUE(x >= 70 && x <= 690 && y >= 50 && y <= 380) << x << "," << y;
  }
}

TEST(LossCurveTest, AxesHaveNamesAndRoundNumbers) {
  std::vector<double> losses;
  for (int i = 0; i < 200; ++i) losses.push_back(4.4 * std::exp(-i / 100.0));
  const std::string svg = LossCurveSvg(losses, "4 ranks");
  for (const char* text :
       {">step<", ">loss<", ">4 ranks<", ">50<", ">200<", ">1<", ">4<"}) {
    EXPECT_EQ(Count(svg, text), 1) << text << "\n" << svg;
  }
  EXPECT_EQ(Count(svg, "<text"), Count(svg, "</text>"));
}

TEST(LossCurveTest, TitlesAreEscaped) {
  const std::string svg = LossCurveSvg({}, "a < b & c\n> d");
  EXPECT_EQ(Count(svg, "a &lt; b &amp; c &gt; d"), 1) << svg;
}

TEST(LossCurveTest, OddInputsLeaveWellFormedPictures) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::vector<double>> inputs = {
      {}, {2.5}, {2, 2, 2}, {nan}, {3, nan, 2, infinity, 1}, {0, -1e9}};
  for (const std::vector<double>& losses : inputs) {
    const std::string svg = LossCurveSvg(losses, "t");
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
    EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
    EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
    EXPECT_LT(svg.size(), 20000u);
  }
  EXPECT_EQ(Count(LossCurveSvg(inputs[4], "t"), "<polyline"), 3);
}

TEST(LossCurveTest, LongRunsAreThinnedOut) {
  const std::vector<double> losses(1'000'000, 1.0);
  EXPECT_LT(LossCurveSvg(losses, "t").size(), 40000u);
}

}  // namespace
}  // namespace rondo
