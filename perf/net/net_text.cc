#include <algorithm>

#include "fmt/format.h"
#include "perf/cli/version.h"
#include "perf/net/net_flow.h"
#include "perf/net/net_result.h"

namespace rondo::perf {
namespace {

constexpr double kNsPerUs = 1000;

std::string Figure(const std::optional<double>& value, int width) {
  return value ? fmt::format("{:>{}.3f}", *value, width)
               : fmt::format("{:>{}}", "-", width);
}

}  // namespace

std::optional<double> NetRatio(const NetCell& cell) {
  if (!cell.raw || *cell.raw <= 0) return std::nullopt;
  return cell.plugin / *cell.raw;
}

int64_t WrongBytes(const NetRun& run) {
  int64_t wrong = 0;
  for (const NetCell& cell : run.cells) wrong += cell.wrong_bytes;
  return wrong;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

std::string NetPreamble(const NetRun& run) {
  std::string text = fmt::format(
      "# rondo {} perf net\n"
      "# Plugin: {} ({}), version {}, device {}\n"
      "# Host: {}, {} usable CPUs; two processes, not pinned, {} messages in "
      "flight\n"
      "# Medians of {} turns\n",
      VersionText(), run.plugin, run.plugin_path, run.plugin_version,
      run.device, run.hostname, run.cpus, kWindow, run.alternations);
  if (run.raw_missing.empty()) {
    text += fmt::format("# Raw: {} with UCX_TLS={} UCX_NET_DEVICES={}\n",
                        run.raw_program, run.transport, run.raw_device);
  } else {
    text += fmt::format("# Raw: {}\n", run.raw_missing);
  }
  return text;
}

std::string NetHeader(NetTest test) {
  if (test == NetTest::kBandwidth) {
    return fmt::format(
        "#\n# bandwidth (GB/s); longest single call (us)\n"
        "# {:>10}  {:>9}  {:>9}  {:>9}  {:>6}  {:>9}  {:>9}  {:>5}\n",
        "bytes", "messages", "plugin", "raw", "ratio", "call", "call cpu",
        "wrong");
  }
  return fmt::format(
      "#\n# latency, one way (us); longest single call (us)\n"
      "# {:>10}  {:>9}  {:>9}  {:>9}  {:>6}  {:>9}  {:>9}  {:>5}  {:>9}\n",
      "bytes", "trips", "plugin", "raw", "ratio", "call", "call cpu", "wrong",
      "p99");
}

std::string NetRow(const NetCell& cell) {
  std::string text = fmt::format(
      "  {:>10}  {:>9}  {:>9.3f}  {}  {}  {:>9.1f}  {:>9.1f}  {:>5}",
      cell.bytes, cell.messages, cell.plugin, Figure(cell.raw, 9),
      Figure(NetRatio(cell), 6),
      static_cast<double>(cell.longest.wall_ns) / kNsPerUs,
      static_cast<double>(cell.longest.cpu_ns) / kNsPerUs, cell.wrong_bytes);
  if (cell.test == NetTest::kLatency) {
    text += fmt::format("  {:>9.3f}", cell.plugin_p99);
  }
  return text + "\n";
}

std::string NetSummary(const NetRun& run) {
  const int64_t wrong = WrongBytes(run);
  return fmt::format("#\n# Wrong bytes : {} {}\n#\n", wrong,
                     wrong == 0 ? "OK" : "FAILED");
}

}  // namespace rondo::perf
