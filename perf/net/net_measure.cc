#include "perf/net/net_measure.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "fmt/format.h"
#include "perf/net/net_flow.h"
#include "perf/net/turn_length.h"

namespace rondo::perf {
namespace {

constexpr int64_t kFewest = 2 * kWindow;
// The raw bandwidth is the sender's, who is done when the last messages are in
// the kernel's buffers; those must not count for much.
constexpr int64_t kFewestBytes = int64_t{16} << 20;
constexpr double kNsPerMs = 1e6;
constexpr double kNsPerUs = 1e3;

// Of a ping-pong, the median round trip is what each usually takes.
Trial TrialOf(const NetCell& cell, int64_t messages,
              const PairAnswers& answers) {
  Trial trial;
  trial.messages = messages;
  const bool bandwidth = cell.test == NetTest::kBandwidth;
  trial.took_ns = static_cast<double>(bandwidth ? answers.second.elapsed_ns
                                                : answers.first.elapsed_ns);
  trial.usual_ns = bandwidth ? trial.took_ns
                             : 2 * answers.first.median_us * kNsPerUs *
                                   static_cast<double>(messages);
  return trial;
}

int64_t Fewest(const NetCell& cell) {
  if (cell.test == NetTest::kLatency) return kFewest;
  return std::max(kFewest, kFewestBytes / static_cast<int64_t>(cell.bytes));
}

double Gbs(const NetCell& cell, int64_t elapsed_ns) {
  return elapsed_ns <= 0 ? 0
                         : static_cast<double>(cell.bytes) *
                               static_cast<double>(cell.messages) /
                               static_cast<double>(elapsed_ns);
}

}  // namespace

Result<NetCell> NetMeasure::Cell(NetTest test, size_t bytes) {
  NetCell cell;
  cell.test = test;
  cell.bytes = bytes;
  RONDO_RETURN_IF_ERROR(Fill(&cell).WithContext(fmt::format(
      "{} of {} bytes", test == NetTest::kBandwidth ? "bandwidth" : "latency",
      bytes)));
  return cell;
}

Status NetMeasure::Fill(NetCell* cell) {
  Order check;
  check.task = Task::kCheck;
  check.bytes = static_cast<int64_t>(cell->bytes);
  RONDO_ASSIGN_OR_RETURN(const PairAnswers checked, pair_->Run(check));
  cell->wrong_bytes = checked.first.wrong_bytes + checked.second.wrong_bytes;
  RONDO_RETURN_IF_ERROR(FindMessages(cell));
  RONDO_RETURN_IF_ERROR(TakeTurns(cell));
  RONDO_ASSIGN_OR_RETURN(const PairAnswers watched,
                         RunPlugin(*cell, cell->messages, true));
  for (const Answer& answer : {watched.first, watched.second}) {
    cell->longest.wall_ns =
        std::max(cell->longest.wall_ns, answer.longest.wall_ns);
    cell->longest.cpu_ns =
        std::max(cell->longest.cpu_ns, answer.longest.cpu_ns);
  }
  return Status::Ok();
}

// Also the warm-up.
Status NetMeasure::FindMessages(NetCell* cell) {
  const double wanted_ns = options_.time_ms * kNsPerMs;
  for (int64_t tried = kFewest;; tried *= kTrialGrowth) {
    RONDO_ASSIGN_OR_RETURN(const PairAnswers answers,
                           RunPlugin(*cell, tried, false));
    const std::optional<int64_t> found = MessagesOfTurn(
        TrialOf(*cell, tried, answers), wanted_ns, Fewest(*cell));
    if (!found) continue;
    cell->messages = *found;
    return Status::Ok();
  }
}

Status NetMeasure::TakeTurns(NetCell* cell) {
  std::vector<double> plugin;
  std::vector<double> p99;
  std::vector<double> raw;
  for (int i = 0; i < options_.alternations; ++i) {
    RONDO_ASSIGN_OR_RETURN(const PairAnswers answers,
                           RunPlugin(*cell, cell->messages, false));
    plugin.push_back(cell->test == NetTest::kBandwidth
                         ? Gbs(*cell, answers.second.elapsed_ns)
                         : answers.first.median_us);
    p99.push_back(answers.first.p99_us);
    if (raw_ == nullptr) continue;
    RONDO_ASSIGN_OR_RETURN(const double figure, RunRaw(*cell));
    raw.push_back(figure);
  }
  cell->plugin = Median(plugin);
  cell->plugin_p99 = Median(p99);
  if (!raw.empty()) cell->raw = Median(raw);
  return Status::Ok();
}

Result<PairAnswers> NetMeasure::RunPlugin(const NetCell& cell, int64_t messages,
                                          bool watch) {
  Order order;
  order.task =
      cell.test == NetTest::kBandwidth ? Task::kStream : Task::kPingPong;
  order.watch = watch;
  order.bytes = static_cast<int64_t>(cell.bytes);
  order.messages = messages;
  return pair_->Run(order);
}

Result<double> NetMeasure::RunRaw(const NetCell& cell) const {
  const auto bytes = static_cast<int64_t>(cell.bytes);
  if (cell.test == NetTest::kBandwidth) {
    RONDO_ASSIGN_OR_RETURN(const PerftestFigures figures,
                           raw_->Bandwidth(bytes, cell.messages));
    return figures.overall_gbs;
  }
  RONDO_ASSIGN_OR_RETURN(const PerftestFigures figures,
                         raw_->Latency(bytes, cell.messages));
  return figures.median_us;
}

}  // namespace rondo::perf
