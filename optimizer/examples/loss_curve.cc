#include "optimizer/examples/loss_curve.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "fmt/format.h"

namespace rondo {
namespace {

// Pixels.
constexpr double kWidth = 720;
constexpr double kHeight = 440;
constexpr double kLeft = 70;
constexpr double kRight = kWidth - 30;
constexpr double kTop = 50;
constexpr double kBottom = kHeight - 60;
// More points than pixels would only make the file larger.
constexpr size_t kMaxPoints = 1400;

// One axis: values low .. high between two pixels, a tick every `tick`.
struct Axis {
  double low;
  double high;
  double tick;
  double pixel_low;
  double pixel_high;

  double Pixel(double value) const {
    return pixel_low + (value - low) / (high - low) * (pixel_high - pixel_low);
  }
};

// 1, 2 or 5 times a power of ten: at most about `count` of them in `range`.
double RoundTick(double range, int count) {
  const double least = range / count;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10.0 * power;
}

Axis StepAxis(size_t steps) {
  const double high = std::max<double>(steps, 2);
  return {1, high, std::max(1.0, RoundTick(high, 8)), kLeft, kRight};
}

Axis LossAxis(std::span<const double> losses) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (double loss : losses) {
    if (!std::isfinite(loss)) continue;
    low = std::min(low, loss);
    high = std::max(high, loss);
  }
  if (low > high) low = high = 0;
  if (high - low < 1e-6 * (1 + std::abs(low))) high = low + 1;
  const double tick = RoundTick(high - low, 6);
  return {tick * std::floor(low / tick), tick * std::ceil(high / tick), tick,
          kBottom, kTop};
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        // XML has no control characters, not even escaped.
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

void AppendText(std::string* svg, double x, double y, std::string_view anchor,
                int size, std::string_view text) {
  fmt::format_to(std::back_inserter(*svg),
                 "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" "
                 "font-size=\"{}\">{}</text>\n",
                 x, y, anchor, size, Escaped(text));
}

void AppendLine(std::string* svg, double x1, double y1, double x2, double y2,
                std::string_view color) {
  fmt::format_to(std::back_inserter(*svg),
                 "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" "
                 "y2=\"{:.1f}\" stroke=\"{}\"/>\n",
                 x1, y1, x2, y2, color);
}

void AppendAxes(std::string* svg, const Axis& steps, const Axis& losses) {
  // Counted, not accumulated: rounding could lose the last tick.
  const int loss_ticks =
      static_cast<int>(std::lround((losses.high - losses.low) / losses.tick));
  for (int i = 0; i <= loss_ticks; ++i) {
    const double value = losses.low + i * losses.tick;
    const double y = losses.Pixel(value);
    AppendLine(svg, kLeft, y, kRight, y, "#dddddd");
    AppendText(
        svg, kLeft - 8, y + 4, "end", 12,
        fmt::format("{:.6g}", std::abs(value) < losses.tick / 2 ? 0.0 : value));
  }
  for (double step = steps.tick; step <= steps.high; step += steps.tick) {
    const double x = steps.Pixel(step);
    AppendLine(svg, x, kBottom, x, kBottom + 5, "#333333");
    AppendText(svg, x, kBottom + 19, "middle", 12, fmt::format("{:.6g}", step));
  }
  AppendLine(svg, kLeft, kTop, kLeft, kBottom, "#333333");
  AppendLine(svg, kLeft, kBottom, kRight, kBottom, "#333333");
  AppendText(svg, (kLeft + kRight) / 2, kHeight - 16, "middle", 14, "step");
  fmt::format_to(std::back_inserter(*svg),
                 "<text x=\"20\" y=\"{0:.1f}\" text-anchor=\"middle\" "
                 "font-size=\"14\" transform=\"rotate(-90 20 {0:.1f})\">"
                 "loss</text>\n",
                 (kTop + kBottom) / 2);
}

// One polyline for each run of finite losses.
void AppendCurve(std::string* svg, std::span<const double> losses,
                 const Axis& step_axis, const Axis& loss_axis) {
  const size_t stride = losses.size() / kMaxPoints + 1;
  std::string points;
  auto flush = [&] {
    if (points.empty()) return;
    *svg +=
        "<polyline fill=\"none\" stroke=\"#1f5fbf\" stroke-width=\"1.5\" "
        "stroke-linejoin=\"round\" points=\"" +
        points + "\"/>\n";
    points.clear();
  };
  for (size_t i = 0; i < losses.size(); i += stride) {
    if (!std::isfinite(losses[i])) {
      flush();
      continue;
    }
    fmt::format_to(std::back_inserter(points), "{}{:.1f},{:.1f}",
                   points.empty() ? "" : " ",
                   step_axis.Pixel(static_cast<double>(i + 1)),
                   loss_axis.Pixel(losses[i]));
  }
  flush();
}

}  // namespace

std::string LossCurveSvg(std::span<const double> losses,
                         std::string_view title) {
  const Axis step_axis = StepAxis(losses.size());
  const Axis loss_axis = LossAxis(losses);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" fill=\"#222222\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      kWidth, kHeight);
  AppendText(&svg, (kLeft + kRight) / 2, 28, "middle", 16, title);
  AppendAxes(&svg, step_axis, loss_axis);
  AppendCurve(&svg, losses, step_axis, loss_axis);
  svg += "</svg>\n";
  return svg;
}

}  // namespace rondo
