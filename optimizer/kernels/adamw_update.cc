#include "optimizer/kernels/adamw_update.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "collectives/kernels/convert.h"
#include "collectives/kernels/data_type.h"
#include "fmt/format.h"

namespace rondo {
namespace {

// Gradients, three arrays of state and two tiles of 4 KiB each: 24 KiB, which
// leaves room in a first-level cache of 32 KiB.
constexpr size_t kTileElements = 1024;

Status CheckArrays(std::span<const ConstElements> sources,
                   std::span<const MutableElements> destinations) {
  if (sources.empty()) {
    return InvalidArgument("no gradient source: at least one is needed");
  }
  for (const ConstElements& source : sources) {
    if (!IsFloatingPoint(source.type)) {
      return InvalidArgument(
          fmt::format("gradients of type {}: half, bfloat16, float and double "
                      "are accepted",
                      DataTypeName(source.type)));
    }
  }
  for (const MutableElements& destination : destinations) {
    if (!IsFloatingPoint(destination.type)) {
      return InvalidArgument(
          fmt::format("parameters of type {}: half, bfloat16, float and double "
                      "are accepted",
                      DataTypeName(destination.type)));
    }
  }
  return Status::Ok();
}

}  // namespace

Result<AdamWUpdate> AdamWUpdate::Create(ShardLayout layout, int rank,
                                        const AdamWHyper& hyper,
                                        double gradient_scale,
                                        std::span<const float> initial) {
  if (rank < 0 || rank >= layout.world_size()) {
    return InvalidArgument(fmt::format("rank {}: the layout has ranks 0 to {}",
                                       rank, layout.world_size() - 1));
  }
  if (initial.size() != layout.total_count()) {
    return InvalidArgument(
        fmt::format("{} initial parameters on rank {}: the layout has {}",
                    initial.size(), rank, layout.total_count()));
  }
  if (!std::isfinite(gradient_scale)) {
    return InvalidArgument(fmt::format(
        "gradient scale {}: a finite number is accepted", gradient_scale));
  }
  AdamWUpdate update;
  RONDO_RETURN_IF_ERROR(update.SetHyper(hyper));
  const size_t shard_count = layout.shard_counts()[rank];
  const auto shard = initial.subspan(layout.shard_offset(rank), shard_count);
  update.layout_ = std::move(layout);
  update.rank_ = rank;
  update.gradient_scale_ = static_cast<float>(gradient_scale);
  update.master_.assign(shard.begin(), shard.end());
  update.first_moment_.assign(shard_count, 0.0f);
  update.second_moment_.assign(shard_count, 0.0f);
  update.gradient_tile_.resize(std::min(kTileElements, shard_count));
  update.widened_tile_.resize(update.gradient_tile_.size());
  return update;
}

Status AdamWUpdate::BeginStep(int64_t step) {
  if (step < 1) {
    return InvalidArgument(
        fmt::format("optimizer step {}: steps count from 1", step));
  }
  step_ = step;
  with_decay_ = MakeAdamWConstants(hyper_, step, /*decay=*/true);
  without_decay_ = MakeAdamWConstants(hyper_, step, /*decay=*/false);
  applied_count_ = 0;
  return Status::Ok();
}

Status AdamWUpdate::SetHyper(const AdamWHyper& hyper) {
  RONDO_RETURN_IF_ERROR(CheckAdamWHyper(hyper));
  hyper_ = hyper;
  return Status::Ok();
}

Result<UpdateOutcome> AdamWUpdate::Apply(
    const UpdateRange& range, std::span<const ConstElements> sources,
    std::span<const MutableElements> destinations) {
  RONDO_RETURN_IF_ERROR(CheckRange(range));
  RONDO_RETURN_IF_ERROR(CheckArrays(sources, destinations));
  const AdamWConstants& constants = layout_.parameters()[range.parameter].decay
                                        ? with_decay_
                                        : without_decay_;
  const size_t shard_start = range.vector_offset - layout_.shard_offset(rank_);
  for (size_t at = 0; at < range.count; at += kTileElements) {
    const size_t count = std::min(kTileElements, range.count - at);
    SumGradients(sources, at, count);
    StepTile(constants, shard_start + at, count);
    for (const MutableElements& destination : destinations) {
      char* begin = static_cast<char*>(destination.data) +
                    at * ElementSize(destination.type);
      RONDO_RETURN_IF_ERROR(ConvertElements(DataType::kFloat32,
                                            &master_[shard_start + at],
                                            destination.type, begin, count));
    }
  }
  applied_count_ += range.count;
  return UpdateOutcome::kDone;
}

size_t AdamWUpdate::scratch_bytes() const {
  return (gradient_tile_.size() + widened_tile_.size()) * sizeof(float);
}

Status AdamWUpdate::CheckRange(const UpdateRange& range) const {
  if (step_ == 0) return InvalidUsage("Apply() before the first BeginStep()");
  const int parameters = static_cast<int>(layout_.parameters().size());
  if (range.parameter < 0 || range.parameter >= parameters) {
    return InvalidArgument(fmt::format(
        "update of parameter {}, offset {}, count {} on rank {}: there are {} "
        "parameters",
        range.parameter, range.offset, range.count, rank_, parameters));
  }
  const ParameterSpec& parameter = layout_.parameters()[range.parameter];
  const size_t shard_begin = layout_.shard_offset(rank_);
  const size_t shard_end = shard_begin + layout_.shard_counts()[rank_];
  const bool in_parameter = range.offset <= parameter.count &&
                            range.count <= parameter.count - range.offset;
  const size_t begin = layout_.parameter_offset(range.parameter) + range.offset;
  const bool in_shard = begin >= shard_begin && begin <= shard_end &&
                        range.count <= shard_end - begin;
  if (in_parameter && in_shard && range.vector_offset == begin) {
    return Status::Ok();
  }
  return InvalidArgument(fmt::format(
      "update of parameter {} ('{}' of {} elements), offset {}, count {}, "
      "vector offset {} on rank {}: elements {} to {} of the vector are its "
      "shard, and that offset of the parameter is element {}",
      range.parameter, parameter.name, parameter.count, range.offset,
      range.count, range.vector_offset, rank_, shard_begin, shard_end, begin));
}

// gradient_tile_ = scale * (((s0 + s1) + s2) + ...), elements at .. at + count.
void AdamWUpdate::SumGradients(std::span<const ConstElements> sources,
                               size_t at, size_t count) {
  float* sum = gradient_tile_.data();
  for (size_t k = 0; k < sources.size(); ++k) {
    const char* begin = static_cast<const char*>(sources[k].data) +
                        at * ElementSize(sources[k].type);
    float* widened = k == 0 ? sum : widened_tile_.data();
    // Cannot fail: CheckArrays() has seen the type.
    static_cast<void>(ConvertElements(sources[k].type, begin,
                                      DataType::kFloat32, widened, count));
    if (k == 0) continue;
    for (size_t i = 0; i < count; ++i) sum[i] += widened[i];
  }
  for (size_t i = 0; i < count; ++i) sum[i] *= gradient_scale_;
}

void AdamWUpdate::StepTile(const AdamWConstants& constants, size_t shard_at,
                           size_t count) {
  const float* gradient = gradient_tile_.data();
  float* p = &master_[shard_at];
  float* m = &first_moment_[shard_at];
  float* v = &second_moment_[shard_at];
  for (size_t i = 0; i < count; ++i) {
    AdamWElement(constants, gradient[i], &p[i], &m[i], &v[i]);
  }
}

}  // namespace rondo
