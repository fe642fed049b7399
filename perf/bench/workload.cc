#include "perf/bench/workload.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "collectives/kernels/test_data.h"
#include "fmt/format.h"

namespace rondo::perf {
namespace {

constexpr std::byte kPoison{0xa5};
// Expected values are made piece by piece, not as a third full-size buffer.
constexpr size_t kPieceElements = size_t{1} << 16;

// Data that is only moved uses the type's whole range.
constexpr Reduction kMovedData = Reduction::kMax;

// Counts elements that differ from what `expect(offset, data, count)` writes.
template <typename Expect>
int64_t CountAgainst(DataType type, const std::byte* got, size_t count,
                     Expect expect) {
  const size_t element_bytes = ElementSize(type);
  std::vector<std::byte> want(std::min(count, kPieceElements) * element_bytes);
  int64_t wrong = 0;
  for (size_t offset = 0; offset < count; offset += kPieceElements) {
    const size_t piece = std::min(kPieceElements, count - offset);
    expect(offset, want.data(), piece);
    wrong += static_cast<int64_t>(
        CountWrong(type, got + offset * element_bytes, want.data(), piece));
  }
  return wrong;
}

}  // namespace

Workload::Workload(const WorkloadSpec& spec, int rank, int ranks)
    : spec_(spec),
      rank_(rank),
      ranks_(ranks),
      blocks_(spec.collective == Collective::kBroadcast ? 1 : ranks),
      block_bytes_(spec.count * ElementSize(spec.type)) {}

Result<Workload> Workload::Create(const WorkloadSpec& spec, int rank,
                                  int ranks) {
  Workload workload(spec, rank, ranks);
  const std::string who = fmt::format("rank {}", rank);
  Result<Buffer> all = Buffer::Allocate(spec.buffers, workload.total_bytes());
  if (!all.ok()) return all.status().WithContext(who);
  Result<Buffer> one = Buffer::Allocate(spec.buffers, workload.block_bytes_);
  if (!one.ok()) return one.status().WithContext(who);
  workload.all_ = *std::move(all);
  workload.one_ = *std::move(one);
  return workload;
}

CollectiveCall Workload::Call(bool in_place) const {
  CollectiveCall call;
  call.collective = spec_.collective;
  call.count = spec_.count;
  call.type = spec_.type;
  call.reduction = spec_.reduction;
  call.root = spec_.root;
  if (spec_.collective == Collective::kReduceScatter) {
    call.input = all_.data();
    call.output = in_place ? Block(rank_) : one_.data();
  } else {
    const int own = spec_.collective == Collective::kAllGather ? rank_ : 0;
    call.input = in_place ? Block(own) : one_.data();
    call.output = all_.data();
  }
  return call;
}

std::byte* Workload::Source() const {
  return spec_.collective == Collective::kReduceScatter ? all_.data()
                                                        : one_.data();
}

void Workload::Fill(bool in_place, uint64_t seed) {
  std::memset(all_.data(), static_cast<int>(kPoison), total_bytes());
  std::memset(one_.data(), static_cast<int>(kPoison), block_bytes_);
  if (spec_.collective == Collective::kReduceScatter) {
    FillTestData(spec_.type, spec_.reduction, seed, rank_, 0, all_.data(),
                 spec_.count * blocks_);
    return;
  }
  const bool gather = spec_.collective == Collective::kAllGather;
  if (!gather && rank_ != spec_.root) return;
  std::byte* source = in_place ? Block(gather ? rank_ : 0) : one_.data();
  FillTestData(spec_.type, kMovedData, seed, rank_, 0, source, spec_.count);
}

int64_t Workload::CountWrong(bool in_place, uint64_t seed) const {
  return CountWrongOutput(in_place, seed) + WrongSource(in_place, seed);
}

int64_t Workload::CountWrongOutput(bool in_place, uint64_t seed) const {
  if (spec_.collective == Collective::kReduceScatter) {
    const std::byte* output = in_place ? Block(rank_) : one_.data();
    const size_t first = spec_.count * rank_;
    return CountAgainst(spec_.type, output, spec_.count,
                        [&](size_t offset, void* want, size_t count) {
                          FillExpected(spec_.type, spec_.reduction, seed,
                                       ranks_, first + offset, want, count);
                        });
  }
  int64_t wrong = 0;
  for (int block = 0; block < blocks_; ++block) {
    const bool gather = spec_.collective == Collective::kAllGather;
    const int source = gather ? block : spec_.root;
    wrong += CountAgainst(spec_.type, Block(block), spec_.count,
                          [&](size_t offset, void* want, size_t count) {
                            FillTestData(spec_.type, kMovedData, seed, source,
                                         offset, want, count);
                          });
  }
  return wrong;
}

int64_t Workload::WrongSource(bool in_place, uint64_t seed) const {
  const bool scatter = spec_.collective == Collective::kReduceScatter;
  // In place, an all-gather's or broadcast's source is part of the output.
  if (in_place && !scatter) return 0;
  int64_t wrong = 0;
  for (int block = 0; block < (scatter ? blocks_ : 1); ++block) {
    if (in_place && block == rank_) continue;  // holds the output
    const size_t first = scatter ? spec_.count * block : 0;
    const bool poisoned =
        spec_.collective == Collective::kBroadcast && rank_ != spec_.root;
    wrong += CountAgainst(
        spec_.type, Source() + block * block_bytes_, spec_.count,
        [&](size_t offset, void* want, size_t count) {
          if (poisoned) {
            std::memset(want, static_cast<int>(kPoison),
                        count * ElementSize(spec_.type));
          } else {
            FillTestData(spec_.type, scatter ? spec_.reduction : kMovedData,
                         seed, rank_, first + offset, want, count);
          }
        });
  }
  return wrong;
}

}  // namespace rondo::perf
