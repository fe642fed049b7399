#include "optimizer/sharded_optimizer.h"

#include <cmath>
#include <string>
#include <utility>

#include "collectives/kernels/convert.h"
#include "fmt/format.h"
#include "optimizer/step/create_checks.h"
#include "optimizer/step/step_run.h"

namespace rondo {

// Everything but arguments and errors: StepRun does the steps.
class ShardedOptimizer::Impl {
 public:
  Impl(StepParts parts, DataType gradient_type)
      : run(std::move(parts)), gradient_type(gradient_type) {}

  StepRun run;
  DataType gradient_type;
  int64_t steps = 0;
  Status failure;  // of the step that left the state undefined
};

namespace {

// `divisor`: of the sum over ranks, beside the loss scale.
Status CheckStepOptions(const StepOptions& options, double divisor, int rank) {
  const auto refuse = [rank](const char* name, double value,
                             const char* accepted) {
    return InvalidArgument(fmt::format("{} is {} on rank {}: {} is accepted",
                                       name, value, rank, accepted));
  };
  if (!(options.max_norm >= 0) || !std::isfinite(options.max_norm)) {
    return refuse("max_norm", options.max_norm,
                  "a finite number of at least 0 (0: no clipping)");
  }
  if (!(options.loss_scale > 0) || !std::isfinite(options.loss_scale)) {
    return refuse("loss_scale", options.loss_scale, "a finite number above 0");
  }
  const auto scale = static_cast<float>(1.0 / (divisor * options.loss_scale));
  if (scale == 0 || !std::isfinite(scale)) {
    return refuse("loss_scale", options.loss_scale,
                  "one whose inverse, over the ranks, is a float above 0");
  }
  return Status::Ok();
}

struct FlatBuffer {
  const char* name;
  const void* data;
  size_t bytes;

  uintptr_t begin() const { return reinterpret_cast<uintptr_t>(data); }
  uintptr_t end() const { return begin() + bytes; }
};

Status CheckBuffers(const FlatBuffer& gradients, const FlatBuffer& parameters,
                    int rank) {
  for (const FlatBuffer& buffer : {gradients, parameters}) {
    if (buffer.data != nullptr || buffer.bytes == 0) continue;
    return InvalidArgument(
        fmt::format("{} are null on rank {}: {} bytes are "
                    "needed",
                    buffer.name, rank, buffer.bytes));
  }
  const bool apart = gradients.end() <= parameters.begin() ||
                     parameters.end() <= gradients.begin();
  if (apart) return Status::Ok();
  return InvalidArgument(fmt::format(
      "gradients ({} bytes at {}) and parameters ({} bytes at {}) overlap on "
      "rank {}: they must be disjoint",
      gradients.bytes, gradients.data, parameters.bytes, parameters.data,
      rank));
}

// The master copy of `count` elements at `state_offset` from the model's own.
Status Widen(const ModelLayout& layout, int rank, const void* parameters,
             FloatArray* master) {
  for (size_t bucket = 0; bucket < layout.buckets().size(); ++bucket) {
    const LayoutBucket& b = layout.buckets()[bucket];
    if (b.frozen) continue;
    const char* const begin =
        static_cast<const char*>(parameters) + b.parameter_offset_bytes;
    for (const ShardPiece& piece :
         layout.ShardPieces(static_cast<int>(bucket), rank)) {
      RONDO_RETURN_IF_ERROR(ConvertElements(
          b.type, begin + piece.bucket_offset * ElementSize(b.type),
          DataType::kFloat32, master->data() + piece.state_offset,
          piece.count));
    }
  }
  return Status::Ok();
}

}  // namespace

std::string_view StepScheduleName(StepSchedule schedule) {
  return schedule == StepSchedule::kFused ? "fused" : "separate";
}

Result<StepSchedule> ParseStepSchedule(std::string_view text) {
  for (StepSchedule schedule :
       {StepSchedule::kFused, StepSchedule::kSeparate}) {
    if (text == StepScheduleName(schedule)) return schedule;
  }
  return InvalidArgument(fmt::format(
      "'{}' is no schedule of a step: fused, separate are accepted", text));
}

Result<ModelLayout> ShardedOptimizer::LayoutFor(
    const Communicator& communicator, const ShardedOptimizerOptions& options) {
  return ModelLayout::Create(
      options.parameters, {.world_size = communicator.world_size(),
                           .bucket_count_target = options.bucket_count_target});
}

Result<std::unique_ptr<ShardedOptimizer>> ShardedOptimizer::Create(
    Communicator* communicator, std::unique_ptr<UpdateRule> rule,
    const ShardedOptimizerOptions& options, const void* parameters) {
  if (communicator == nullptr) return InvalidArgument("communicator is null");
  const int rank = communicator->rank();
  Result<ModelLayout> layout = LayoutFor(*communicator, options);
  OptimizerClaim claim{.own = layout.status(),
                       .layout = layout.ok() ? &*layout : nullptr,
                       .rule = rule.get(),
                       .gradient_type = options.gradient_type,
                       .average_gradients = options.average_gradients,
                       .schedule = static_cast<int>(options.schedule),
                       .parameters = parameters};
  claim.own =
      CheckOwnClaim(claim, rank).WithContext(fmt::format("rank {}", rank));
  Result<ShardState> state =
      claim.own.ok()
          ? ShardState::Allocate(layout->state_count(), rule->state_count())
          : ShardState();
  if (claim.own.ok()) claim.own = state.status();
  RONDO_RETURN_IF_ERROR(CheckOptimizersAgree(communicator, claim));
  RONDO_RETURN_IF_ERROR(Widen(*layout, rank, parameters, &state->master));
  StepParts parts{
      .communicator = communicator,
      .layout = *std::move(layout),
      .rule = std::move(rule),
      .state = *std::move(state),
      .gradient_type = options.gradient_type,
      .divisor = options.average_gradients
                     ? static_cast<double>(communicator->world_size())
                     : 1.0,
      .fused = options.schedule == StepSchedule::kFused};
  return std::unique_ptr<ShardedOptimizer>(new ShardedOptimizer(
      std::make_unique<Impl>(std::move(parts), options.gradient_type)));
}

Status ShardedOptimizer::RefuseToCreate(Communicator* communicator,
                                        const Status& why) {
  if (communicator == nullptr) return why;
  return CheckOptimizersAgree(communicator, {.own = why});
}

ShardedOptimizer::ShardedOptimizer(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}

ShardedOptimizer::~ShardedOptimizer() = default;

Status ShardedOptimizer::SetParameter(int parameter,
                                      std::span<const float> values,
                                      void* parameters) {
  const ModelLayout& model = layout();
  const int count = static_cast<int>(model.parameters().size());
  if (parameter < 0 || parameter >= count) {
    return InvalidArgument(fmt::format("parameter {}: the layout has 0 to {}",
                                       parameter, count - 1));
  }
  const LayoutParameter& p = model.parameters()[parameter];
  if (values.size() != p.count()) {
    return InvalidArgument(fmt::format("{} values for parameter '{}' of {}",
                                       values.size(), p.name, p.count()));
  }
  if (parameters == nullptr && p.count() > 0) {
    return InvalidArgument(
        fmt::format("parameters are null on rank {}: {} bytes are needed",
                    impl_->run.communicator().rank(), model.parameter_bytes()));
  }
  return impl_->run.SetParameter(parameter, values, parameters);
}

Result<StepResult> ShardedOptimizer::Step(const void* gradients,
                                          void* parameters,
                                          const StepOptions& options) {
  RONDO_RETURN_IF_ERROR(impl_->failure);
  const int rank = impl_->run.communicator().rank();
  RONDO_RETURN_IF_ERROR(CheckStepOptions(options, impl_->run.divisor(), rank));
  RONDO_RETURN_IF_ERROR(CheckBuffers(
      {"gradients", gradients,
       layout().gradient_count() * ElementSize(impl_->gradient_type)},
      {"parameters", parameters, layout().parameter_bytes()}, rank));
  RONDO_RETURN_IF_ERROR(rule().BeginStep(impl_->steps + 1));
  StepResult result;
  result.step = impl_->steps;
  const Status status = impl_->run.Run(gradients, parameters, options, &result);
  if (!status.ok()) {
    impl_->failure =
        status.WithContext(fmt::format("optimizer step {}", impl_->steps + 1));
    return impl_->failure;
  }
  if (!result.skipped) result.step = ++impl_->steps;
  return result;
}

const ModelLayout& ShardedOptimizer::layout() const {
  return impl_->run.layout();
}
UpdateRule& ShardedOptimizer::rule() { return impl_->run.rule(); }
int64_t ShardedOptimizer::steps() const { return impl_->steps; }
void ShardedOptimizer::SetSteps(int64_t steps) { impl_->steps = steps; }

OptimizerBytes ShardedOptimizer::bytes() const {
  const int rank = impl_->run.communicator().rank();
  const int moments = static_cast<int>(impl_->run.state().arrays.size());
  OptimizerBytes bytes;
  bytes.layout = layout().Bytes(rank, impl_->gradient_type,
                                {.master = true, .moments = moments});
  if (impl_->run.state().gradient.size() > 0) {
    bytes.scratch =
        layout()
            .Bytes(rank, DataType::kFloat32, {.master = true, .moments = 0})
            .master;
  }
  return bytes;
}

std::span<float> ShardedOptimizer::master() {
  return impl_->run.state().master.span();
}

std::span<float> ShardedOptimizer::state(int index) {
  std::vector<FloatArray>& arrays = impl_->run.state().arrays;
  if (index < 0 || index >= static_cast<int>(arrays.size())) return {};
  return arrays[index].span();
}

}  // namespace rondo
