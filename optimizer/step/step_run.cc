#include "optimizer/step/step_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "collectives/kernels/convert.h"
#include "fmt/format.h"
#include "optimizer/agreement/agreement.h"
#include "optimizer/step/norm_exchange.h"

namespace rondo {
namespace {

double MicrosecondsSince(int64_t began_ns) {
  return static_cast<double>(NowNs() - began_ns) / 1e3;
}

// Of what must be the same on every rank in this step.
uint64_t FingerprintOf(const UpdateRule& rule, const StepOptions& options) {
  const uint64_t words[] = {rule.Fingerprint(),
                            Fingerprint(&options.max_norm, sizeof(double)),
                            Fingerprint(&options.loss_scale, sizeof(double)),
                            options.skip_non_finite};
  return Fingerprint(words, sizeof(words));
}

}  // namespace

StepRun::StepRun(StepParts parts) : parts_(std::move(parts)) {
  const int rank = parts_.communicator->rank();
  for (size_t bucket = 0; bucket < layout().buckets().size(); ++bucket) {
    updates_.emplace_back(layout(), static_cast<int>(bucket), rank);
  }
}

Status StepRun::Run(const void* gradients, void* parameters,
                    const StepOptions& options, StepResult* result) {
  const int64_t began_ns = NowNs();
  gradients_ = gradients;
  parameters_ = parameters;
  fingerprint_ = FingerprintOf(rule(), options);
  UpdateSetting setting;
  setting.rule = parts_.rule.get();
  setting.state = &parts_.state;
  setting.scale =
      static_cast<float>(1.0 / (parts_.divisor * options.loss_scale));
  result->measured = options.max_norm > 0 || options.loss_scale != 1 ||
                     options.skip_non_finite;
  if (result->measured || !parts_.fused) {
    RONDO_RETURN_IF_ERROR(Reduce(setting, options, result));
  }
  if (!result->skipped) {
    setting.coefficient = static_cast<float>(result->coefficient);
    RONDO_RETURN_IF_ERROR(UpdateAndGather(setting, result));
  }
  result->timings.total_us = MicrosecondsSince(began_ns);
  return Status::Ok();
}

Status StepRun::ForEachBucket(Collective collective,
                              const UpdateSetting& setting) {
  const std::vector<LayoutBucket>& buckets = layout().buckets();
  for (size_t i = 0; i < buckets.size(); ++i) {
    const LayoutBucket& bucket = buckets[i];
    if (bucket.frozen) continue;
    BucketUpdate& update = updates_[i];
    update.Begin(&setting);
    CollectiveCall call;
    call.collective = collective;
    call.input = static_cast<const char*>(gradients_) +
                 bucket.gradient_offset * ElementSize(parts_.gradient_type);
    call.output =
        static_cast<char*>(parameters_) + bucket.parameter_offset_bytes;
    call.count = bucket.ShardCount(layout().world_size());
    call.type = parts_.gradient_type;
    call.output_type = bucket.type;
    call.update = &update;
    call.update_fingerprint = fingerprint_;
    Status status = parts_.communicator->Run(call);
    if (status.ok() && update.applied_count() != call.count) {
      status = Internal(fmt::format(
          "{} elements were updated on rank {}, "
          "whose shard has {}",
          update.applied_count(), communicator().rank(), call.count));
    }
    if (!status.ok()) return status.WithContext(fmt::format("bucket {}", i));
  }
  return Status::Ok();
}

Status StepRun::Reduce(const UpdateSetting& step, const StepOptions& options,
                       StepResult* result) {
  const int64_t began_ns = NowNs();
  ExactSum squares;
  UpdateSetting setting = step;
  setting.phase = UpdatePhase::kMeasure;
  if (KeepsSums()) {
    RONDO_RETURN_IF_ERROR(parts_.state.KeepGradient());
    setting.phase = UpdatePhase::kReduce;
  }
  if (result->measured) setting.squares = &squares;
  RONDO_RETURN_IF_ERROR(ForEachBucket(Collective::kReduceUpdate, setting));
  result->timings.reduce_us = MicrosecondsSince(began_ns);
  return result->measured ? Measure(squares, options, result) : Status::Ok();
}

Status StepRun::Measure(const ExactSum& squares, const StepOptions& options,
                        StepResult* result) {
  const int64_t began_ns = NowNs();
  RONDO_ASSIGN_OR_RETURN(const double sum,
                         SumOverRanks(parts_.communicator, squares));
  result->norm = std::sqrt(sum);
  result->finite = std::isfinite(sum);
  result->skipped = !result->finite;
  if (result->finite) {
    result->coefficient = ClipCoefficient(result->norm, options.max_norm);
  }
  result->timings.norm_us = MicrosecondsSince(began_ns);
  return Status::Ok();
}

// Keeping a sum costs four bytes written and four read again; reading the
// gradients of all ranks again costs as many bytes as they have, and no memory.
// Where ranks may not read each other (between hosts they would have to send
// them twice), both passes might move differently, and so sum differently.
bool StepRun::KeepsSums() const {
  constexpr size_t kKeptBytes = 2 * sizeof(float);
  return !parts_.fused || !communicator().ranks_read_each_other() ||
         layout().world_size() * ElementSize(parts_.gradient_type) >=
             kKeptBytes;
}

Status StepRun::UpdateAndGather(UpdateSetting setting, StepResult* result) {
  const int64_t began_ns = NowNs();
  const bool kept = KeepsSums() && (result->measured || !parts_.fused);
  setting.phase = kept ? UpdatePhase::kApply : UpdatePhase::kWhole;
  if (parts_.fused) {
    RONDO_RETURN_IF_ERROR(ForEachBucket(
        kept ? Collective::kUpdateGather : Collective::kShardedStep, setting));
    result->timings.update_us = MicrosecondsSince(began_ns);
    return Status::Ok();
  }
  RONDO_RETURN_IF_ERROR(UpdateOwn(setting));
  const int64_t updated_ns = NowNs();
  result->timings.update_us = static_cast<double>(updated_ns - began_ns) / 1e3;
  RONDO_RETURN_IF_ERROR(GatherParameters());
  result->timings.gather_us = MicrosecondsSince(updated_ns);
  return Status::Ok();
}

Status StepRun::UpdateOwn(const UpdateSetting& setting) {
  for (size_t i = 0; i < updates_.size(); ++i) {
    const LayoutBucket& bucket = layout().buckets()[i];
    if (bucket.frozen) continue;
    const UpdateRange shard = updates_[i].shard();
    const MutableElements own{
        bucket.type, static_cast<char*>(parameters_) +
                         bucket.parameter_offset_bytes +
                         shard.vector_offset * ElementSize(bucket.type)};
    updates_[i].Begin(&setting);
    RONDO_RETURN_IF_ERROR(updates_[i].Apply(shard, {}, {&own, 1}).status());
  }
  return Status::Ok();
}

Status StepRun::GatherParameters() {
  const int ranks = layout().world_size();
  for (const LayoutBucket& bucket : layout().buckets()) {
    if (bucket.frozen) continue;
    char* const begin =
        static_cast<char*>(parameters_) + bucket.parameter_offset_bytes;
    const size_t own = bucket.ShardOffset(ranks, communicator().rank());
    RONDO_RETURN_IF_ERROR(parts_.communicator->AllGather(
        begin + own * ElementSize(bucket.type), begin, bucket.ShardCount(ranks),
        bucket.type));
  }
  return Status::Ok();
}

Status StepRun::SetParameter(int parameter, std::span<const float> values,
                             void* parameters) {
  const int rank = communicator().rank();
  const int storage = layout().StorageOf(parameter);
  for (const PlacedPiece& placed : layout().PiecesOf(parameter)) {
    const LayoutBucket& bucket = layout().buckets()[placed.bucket];
    RONDO_RETURN_IF_ERROR(ConvertElements(
        DataType::kFloat32, values.data() + placed.parameter_offset,
        bucket.type,
        static_cast<char*>(parameters) + placed.parameter_offset_bytes,
        placed.count));
    if (bucket.frozen) continue;
    for (const ShardPiece& piece : layout().ShardPieces(placed.bucket, rank)) {
      if (piece.parameter != storage) continue;
      std::copy_n(values.data() + piece.parameter_offset, piece.count,
                  parts_.state.master.data() + piece.state_offset);
    }
  }
  return Status::Ok();
}

}  // namespace rondo
