#include "collectives/engine/measure_host.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace rondo {
namespace {

constexpr size_t kLittleBytes = 2 << 10;
constexpr size_t kLargeBytes = 64 << 10;
constexpr int kRounds = 9;

// All-gathers of two sizes by some algorithms, which take turns, so that a
// disturbance hits all of them. The quickest call counts: what made others
// slower was somebody else.
class Meter {
 public:
  Meter(Engine* engine, Deadline deadline, std::vector<std::string> algorithms)
      : engine_(engine),
        deadline_(deadline),
        algorithms_(std::move(algorithms)),
        ranks_(engine->bootstrap()->world_size()),
        input_(kLargeBytes),
        output_(kLargeBytes * ranks_),
        quickest_us_(2 * algorithms_.size(),
                     std::numeric_limits<double>::infinity()) {}

  Status Measure() {
    for (int round = 0; round < kRounds; ++round) {
      for (size_t i = 0; i < quickest_us_.size(); ++i) {
        RONDO_ASSIGN_OR_RETURN(
            const double us, TimeCall(algorithms_[i / 2],
                                      i % 2 == 0 ? kLittleBytes : kLargeBytes));
        quickest_us_[i] = std::min(quickest_us_[i], us);
      }
    }
    return TakeSlowestRanks();
  }

  // Of the `index`-th algorithm.
  LinearCost CostOf(size_t index) const {
    const size_t peers = static_cast<size_t>(ranks_) - 1;
    return LineThrough(kLittleBytes * peers, quickest_us_[2 * index],
                       kLargeBytes * peers, quickest_us_[2 * index + 1]);
  }

 private:
  Result<double> TimeCall(const std::string& algorithm, size_t bytes) {
    CallArguments arguments;
    arguments.collective = Collective::kAllGather;
    arguments.input = input_.data();
    arguments.output = output_.data();
    arguments.counts = BlockCounts(bytes, ranks_);
    arguments.input_type = arguments.output_type = DataType::kInt8;
    const int64_t begin_ns = NowNs();
    RONDO_RETURN_IF_ERROR(engine_->RunWith(algorithm, std::move(arguments)));
    return static_cast<double>(NowNs() - begin_ns) / 1e3;
  }

  Status TakeSlowestRanks() {
    const size_t bytes = quickest_us_.size() * sizeof(double);
    const std::string blob(reinterpret_cast<const char*>(quickest_us_.data()),
                           bytes);
    RONDO_ASSIGN_OR_RETURN(auto blobs,
                           engine_->bootstrap()->AllGather(blob, deadline_));
    std::vector<double> theirs(quickest_us_.size());
    for (size_t rank = 0; rank < blobs.size(); ++rank) {
      if (blobs[rank].size() != bytes) {
        return Status(Code::kMismatch,
                      "rank " + std::to_string(rank) +
                          " measures other algorithms (RONDO_ALGO)");
      }
      std::memcpy(theirs.data(), blobs[rank].data(), bytes);
      for (size_t i = 0; i < theirs.size(); ++i) {
        quickest_us_[i] = std::max(quickest_us_[i], theirs[i]);
      }
    }
    return Status::Ok();
  }

  Engine* engine_;
  Deadline deadline_;
  std::vector<std::string> algorithms_;
  int ranks_;
  std::vector<char> input_;
  std::vector<char> output_;
  std::vector<double> quickest_us_;  // per algorithm: of both sizes
};

}  // namespace

Result<HostCosts> MeasureHost(Engine* engine, Deadline deadline) {
  HostCosts costs = TypicalHostCosts();
  if (!engine->ChoosesOnHost()) return costs;
  std::vector<std::string> algorithms = {"staged"};
  if (engine->can_read()) algorithms.push_back("direct");
  Meter meter(engine, deadline, algorithms);
  RONDO_RETURN_IF_ERROR(meter.Measure());
  costs.staged = meter.CostOf(0);
  if (engine->can_read()) costs.read = meter.CostOf(1);
  // Mapped memory is read where it lies: half of the copies, and one round more
  // between the ranks.
  costs.mapped = {costs.staged.fixed_us * 2, costs.staged.us_per_kib / 2};
  return costs;
}

Result<LinearCost> MeasureRing(Engine* engine, Deadline deadline) {
  Meter meter(engine, deadline, {"ring"});
  RONDO_RETURN_IF_ERROR(meter.Measure());
  return meter.CostOf(0);
}

}  // namespace rondo
