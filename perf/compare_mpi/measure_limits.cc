#include "perf/compare_mpi/measure_limits.h"

#include <cstring>
#include <functional>
#include <vector>

#include "collectives/kernels/copy.h"
#include "collectives/kernels/reduce.h"
#include "perf/bench/buffer.h"
#include "perf/compare_mpi/worst_rank.h"

namespace rondo::perf {
namespace {

constexpr size_t kLoopBytes = size_t{128} << 20;
constexpr int kMeasurements = 5;
constexpr int kPasses = 2;  // of each measurement

struct Rate {
  double gbs = 0;
  StoreHint hint = StoreHint::kCached;
};

// The rate of `pass`, which moves `bytes` on every rank, with the better hint.
Result<Rate> BestRate(MpiLibrary* mpi, double bytes,
                      const std::function<void(StoreHint)>& pass) {
  Rate best;
  for (StoreHint hint : {StoreHint::kCached, StoreHint::kStream}) {
    std::vector<double> times_us;
    for (int i = 0; i < kMeasurements; ++i) {
      RONDO_ASSIGN_OR_RETURN(const double us, WorstRankUs(mpi, kPasses, [&] {
                               pass(hint);
                               return Status::Ok();
                             }));
      times_us.push_back(us);
    }
    const double gbs = bytes * mpi->size() / (Median(times_us) * 1e3);
    if (gbs > best.gbs) best = {gbs, hint};
  }
  return best;
}

Result<ReduceLimit> MeasureReduce(MpiLibrary* mpi, int sources,
                                  const Buffer& from, const Buffer& to) {
  // The sources are the parts of one buffer, the target a part of the other.
  const size_t count = from.bytes() / sizeof(float) / sources;
  std::vector<const void*> parts;
  for (int i = 0; i < sources; ++i) {
    parts.push_back(from.data() + i * count * sizeof(float));
  }
  const double bytes =
      static_cast<double>(count * sizeof(float)) * (sources + 1);
  RONDO_ASSIGN_OR_RETURN(
      const Rate rate, BestRate(mpi, bytes, [&](StoreHint hint) {
        ReduceElements(DataType::kFloat32, Reduction::kSum, parts.data(),
                       sources, to.data(), count, {}, hint);
      }));
  return ReduceLimit{sources, rate.gbs, rate.hint};
}

}  // namespace

Result<MemoryLimits> MeasureMemoryLimits(MpiLibrary* mpi) {
  RONDO_ASSIGN_OR_RETURN(const Buffer from,
                         Buffer::Allocate(BufferKind::kUser, kLoopBytes));
  RONDO_ASSIGN_OR_RETURN(const Buffer to,
                         Buffer::Allocate(BufferKind::kUser, kLoopBytes));
  std::memset(from.data(), 0, from.bytes());
  std::memset(to.data(), 0, to.bytes());
  MemoryLimits limits;
  RONDO_ASSIGN_OR_RETURN(const Rate copy,
                         BestRate(mpi, kLoopBytes, [&](StoreHint hint) {
                           CopyBytes(to.data(), from.data(), kLoopBytes, hint);
                         }));
  limits.copy_gbs = copy.gbs;
  limits.copy_hint = copy.hint;
  std::vector<int> source_counts = {2};
  if (mpi->size() != 2) source_counts.push_back(mpi->size());
  for (int sources : source_counts) {
    RONDO_ASSIGN_OR_RETURN(const ReduceLimit limit,
                           MeasureReduce(mpi, sources, from, to));
    limits.reduce.push_back(limit);
  }
  return limits;
}

}  // namespace rondo::perf
