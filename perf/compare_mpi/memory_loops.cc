#include "perf/compare_mpi/memory_loops.h"

#include <cstring>
#include <utility>

#include "collectives/kernels/copy.h"
#include "collectives/kernels/reduce.h"
#include "perf/compare_mpi/worst_rank.h"

namespace rondo::perf {
namespace {

constexpr size_t kLoopBytes = size_t{128} << 20;
constexpr int kFirstSamples = 5;
constexpr int kPasses = 2;  // of each sample

}  // namespace

Result<MemoryLoops> MemoryLoops::Create(MpiLibrary* mpi) {
  MemoryLoops loops(mpi);
  for (Buffer* buffer : {&loops.from_, &loops.to_}) {
    RONDO_ASSIGN_OR_RETURN(*buffer,
                           Buffer::Allocate(BufferKind::kUser, kLoopBytes));
    std::memset(buffer->data(), 0, buffer->bytes());
  }
  RONDO_RETURN_IF_ERROR(loops.Add(1));
  RONDO_RETURN_IF_ERROR(loops.Add(2));
  if (mpi->size() != 2) RONDO_RETURN_IF_ERROR(loops.Add(mpi->size()));
  return loops;
}

Status MemoryLoops::Add(int sources) {
  Loop best;
  for (StoreHint hint : {StoreHint::kCached, StoreHint::kStream}) {
    Loop loop{sources, hint, {}};
    for (int i = 0; i < kFirstSamples; ++i) {
      RONDO_ASSIGN_OR_RETURN(const double gbs, Run(sources, hint));
      loop.gbs.push_back(gbs);
    }
    if (Median(loop.gbs) > Median(best.gbs)) best = std::move(loop);
  }
  loops_.push_back(std::move(best));
  return Status::Ok();
}

Result<double> MemoryLoops::Run(int sources, StoreHint hint) {
  // The sources are the parts of one buffer, the target a part of the other.
  const size_t count = kLoopBytes / sizeof(float) / sources;
  std::vector<const void*> parts;
  for (int i = 0; i < sources; ++i) {
    parts.push_back(from_.data() + i * count * sizeof(float));
  }
  const auto pass = [&] {
    if (sources == 1) {
      CopyBytes(to_.data(), from_.data(), kLoopBytes, hint);
    } else {
      ReduceElements(DataType::kFloat32, Reduction::kSum, parts.data(), sources,
                     to_.data(), count, {}, hint);
    }
    return Status::Ok();
  };
  RONDO_ASSIGN_OR_RETURN(const double us, WorstRankUs(mpi_, kPasses, pass));
  const size_t bytes =
      sources == 1 ? kLoopBytes : count * sizeof(float) * (sources + 1);
  return static_cast<double>(bytes) * mpi_->size() / (us * 1e3);
}

Result<double> MemoryLoops::Sample(Collective collective) {
  const int sources = collective == Collective::kAllGather ? 1 : mpi_->size();
  for (Loop& loop : loops_) {
    if (loop.sources != sources) continue;
    RONDO_ASSIGN_OR_RETURN(const double gbs, Run(sources, loop.hint));
    loop.gbs.push_back(gbs);
    return gbs;
  }
  return Internal("there is no memory loop for this number of ranks");
}

MemoryLimits MemoryLoops::limits() const {
  MemoryLimits limits;
  for (const Loop& loop : loops_) {
    if (loop.sources == 1) {
      limits.copy_gbs = Median(loop.gbs);
      limits.copy_hint = loop.hint;
    } else {
      limits.reduce.push_back({loop.sources, Median(loop.gbs), loop.hint});
    }
  }
  return limits;
}

}  // namespace rondo::perf
