#include "perf/compare_mpi/svg_plot.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "perf/cli/version.h"
#include "transports/base/size_text.h"

namespace rondo::perf {
namespace {

constexpr double kPanelWidth = 460;
constexpr double kPanelHeight = 290;
constexpr double kTop = 84;  // title and legend
constexpr double kLeft = 52;
constexpr double kRight = 14;
constexpr double kAbove = 26;
constexpr double kBelow = 44;

struct Line {
  std::string name;
  const char* color;
  BufferKind buffers;
  bool is_mpi;
};

struct Panel {
  Collective collective;
  bool in_place;
  std::vector<const CellResult*> results;  // by size
};

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string Text(double x, double y, const char* anchor, int size,
                 std::string_view text) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\">{}"
      "</text>\n",
      x, y, anchor, size, Escaped(text));
}

std::string Stroke(double x1, double y1, double x2, double y2,
                   const char* color, const char* more = "") {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
      "stroke=\"{}\" {}/>\n",
      x1, y1, x2, y2, color, more);
}

std::vector<Panel> PanelsOf(const ComparisonRun& run) {
  std::vector<Panel> panels;
  for (Collective collective :
       {Collective::kAllGather, Collective::kReduceScatter}) {
    for (bool in_place : {false, true}) {
      Panel panel{collective, in_place, {}};
      for (const CellResult& result : run.results) {
        if (result.cell.collective == collective &&
            result.cell.in_place == in_place) {
          panel.results.push_back(&result);
        }
      }
      std::stable_sort(panel.results.begin(), panel.results.end(),
                       [](const CellResult* a, const CellResult* b) {
                         return a->bytes < b->bytes;
                       });
      if (!panel.results.empty()) panels.push_back(std::move(panel));
    }
  }
  return panels;
}

std::vector<Line> LinesOf(const ComparisonRun& run) {
  // Dark and light of one colour for each library, told apart also in grey.
  constexpr const char* kColors[2][2] = {{"#0b6e4f", "#6fcf97"},
                                         {"#b3261e", "#f2a29b"}};
  std::vector<BufferKind> kinds;
  for (const CellResult& result : run.results) {
    if (std::count(kinds.begin(), kinds.end(), result.cell.buffers) == 0) {
      kinds.push_back(result.cell.buffers);
    }
  }
  std::vector<Line> lines;
  for (bool is_mpi : {false, true}) {
    for (size_t i = 0; i < kinds.size(); ++i) {
      lines.push_back(
          {fmt::format("{}, {} memory", is_mpi ? run.mpi_name : "Rondo",
                       BufferKindName(kinds[i])),
           kColors[is_mpi ? 1 : 0][i % 2], kinds[i], is_mpi});
    }
  }
  return lines;
}

// Draws one panel with its upper left corner at (x, y).
class PanelDrawing {
 public:
  PanelDrawing(const ComparisonRun& run, const Panel& panel, double x, double y)
      : run_(run), panel_(panel), left_(x + kLeft), top_(y + kAbove) {
    const auto log2_of = [](const CellResult* result) {
      return std::log2(static_cast<double>(result->bytes));
    };
    first_ = std::floor(log2_of(panel.results.front()));
    last_ = std::max(first_ + 1, std::ceil(log2_of(panel.results.back())));
    const CellResult& largest = *panel.results.back();
    const double least_us =
        LeastTimeUs(LimitingGbs(run.limits, panel.collective, run.ranks),
                    panel.collective, largest.bytes, run.ranks, panel.in_place);
    limit_ = least_us > 0 ? BusBandwidth(largest, run.ranks, least_us) : 0;
    highest_ = limit_;
    for (const CellResult* result : panel.results) {
      for (double us : {result->rondo_us, result->mpi_us}) {
        highest_ = std::max(highest_, BusBandwidth(*result, run.ranks, us));
      }
    }
    highest_ = highest_ > 0 ? highest_ * 1.08 : 1;
  }

  std::string Draw(const std::vector<Line>& lines) const {
    std::string svg = Axes();
    if (limit_ > 0) {
      svg += Stroke(left_, Y(limit_), left_ + width(), Y(limit_), "#444",
                    "stroke-dasharray=\"6 4\"");
      svg += Text(left_ + 4, Y(limit_) - 4, "start", 10, "memory limit");
    }
    for (const Line& line : lines) svg += Polyline(line);
    return svg;
  }

 private:
  static constexpr double width() { return kPanelWidth - kLeft - kRight; }
  static constexpr double height() { return kPanelHeight - kAbove - kBelow; }
  double X(double log2_bytes) const {
    return left_ + (log2_bytes - first_) / (last_ - first_) * width();
  }
  double Y(double gbs) const {
    return top_ + height() - gbs / highest_ * height();
  }

  std::string Axes() const {
    std::string svg =
        Text(left_ + width() / 2, top_ - 8, "middle", 13,
             fmt::format("{}, {}", CollectiveName(panel_.collective),
                         PlaceName(panel_.in_place)));
    svg += Stroke(left_, top_, left_, top_ + height(), "#000");
    svg += Stroke(left_, top_ + height(), left_ + width(), top_ + height(),
                  "#000");
    const double step = std::max(1.0, std::ceil((last_ - first_) / 9));
    for (double power = first_; power <= last_; power += step) {
      svg += Stroke(X(power), top_, X(power), top_ + height(), "#e5e5e5");
      svg += Text(X(power), top_ + height() + 14, "middle", 10,
                  FormatSize(int64_t{1} << static_cast<int>(power)));
    }
    for (double gbs = 0; gbs <= highest_; gbs += Tick()) {
      svg += Stroke(left_, Y(gbs), left_ + width(), Y(gbs), "#e5e5e5");
      svg += Text(left_ - 5, Y(gbs) + 3, "end", 10, fmt::format("{:g}", gbs));
    }
    svg +=
        Text(left_ + width() / 2, top_ + height() + 30, "middle", 10, "bytes");
    return svg + Text(left_ - kLeft + 4, top_ - 8, "start", 10, "busbw GB/s");
  }

  // 1, 2 or 5 times a power of ten, some five of them up to the top.
  double Tick() const {
    const double power = std::pow(10, std::floor(std::log10(highest_ / 5)));
    for (double factor : {1.0, 2.0, 5.0}) {
      if (highest_ / (factor * power) <= 6) return factor * power;
    }
    return 10 * power;
  }

  std::string Polyline(const Line& line) const {
    std::string points;
    for (const CellResult* result : panel_.results) {
      if (result->cell.buffers != line.buffers) continue;
      const double us = line.is_mpi ? result->mpi_us : result->rondo_us;
      points += fmt::format("{:.1f},{:.1f} ",
                            X(std::log2(static_cast<double>(result->bytes))),
                            Y(BusBandwidth(*result, run_.ranks, us)));
    }
    if (points.empty()) return "";
    points.pop_back();
    return fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" "
        "stroke-width=\"2\"/>\n",
        points, line.color);
  }

  const ComparisonRun& run_;
  const Panel& panel_;
  double left_, top_;
  double first_, last_;  // log2 of bytes
  double limit_, highest_;
};

std::string Legend(const std::vector<Line>& lines) {
  std::string svg;
  double x = kLeft;
  for (const Line& line : lines) {
    svg += Stroke(x, 62, x + 24, 62, line.color, "stroke-width=\"3\"");
    svg += Text(x + 30, 66, "start", 12, line.name);
    x += 52 + 7.0 * static_cast<double>(line.name.size());
  }
  return svg;
}

}  // namespace

std::string SvgPlot(const ComparisonRun& run) {
  const std::vector<Panel> panels = PanelsOf(run);
  const std::vector<Line> lines = LinesOf(run);
  const size_t columns =
      std::min<size_t>(2, std::max<size_t>(1, panels.size()));
  const size_t rows = (panels.size() + columns - 1) / columns;
  const double width = std::max(2, static_cast<int>(columns)) * kPanelWidth;
  const double height = kTop + std::max<size_t>(1, rows) * kPanelHeight;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height);
  svg += Text(kLeft, 24, "start", 16,
              fmt::format("Rondo {} and {}, {} ranks, fp32", VersionText(),
                          run.mpi_name, run.ranks));
  svg += Text(kLeft, 43, "start", 12,
              fmt::format("{}; UCX {}; {}, {} cores", run.mpi_version,
                          run.ucx_version, run.cpu_model, run.cores));
  svg += Legend(lines);
  if (panels.empty()) svg += Text(kLeft, kTop + 40, "start", 14, "no results");
  for (size_t i = 0; i < panels.size(); ++i) {
    const double x = static_cast<double>(i % columns) * kPanelWidth;
    const double y = kTop + static_cast<double>(i / columns) * kPanelHeight;
    svg += PanelDrawing(run, panels[i], x, y).Draw(lines);
  }
  return svg + "</svg>\n";
}

}  // namespace rondo::perf
