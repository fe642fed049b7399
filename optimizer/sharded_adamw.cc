#include "optimizer/sharded_adamw.h"

#include <string>
#include <utility>

#include "fmt/format.h"
#include "optimizer/agreement/agreement.h"

namespace rondo {
namespace {

Status CheckTypes(const ShardedAdamWOptions& options) {
  const std::pair<const char*, DataType> types[] = {
      {"gradient_type", options.gradient_type},
      {"parameter_type", options.parameter_type}};
  for (const auto& [name, type] : types) {
    if (!IsFloatingPoint(type)) {
      return InvalidArgument(
          fmt::format("{} is {}: half, bfloat16, float and double are accepted",
                      name, DataTypeName(type)));
    }
  }
  return Status::Ok();
}

// Everything that can be wrong with one rank's arguments alone.
Result<AdamWUpdate> MakeUpdate(const Communicator& communicator,
                               const ShardedAdamWOptions& options,
                               const float* initial) {
  RONDO_RETURN_IF_ERROR(CheckTypes(options));
  const int ranks = communicator.world_size();
  RONDO_ASSIGN_OR_RETURN(
      ShardLayout layout,
      ShardLayout::Create(options.parameters, ranks, options.shard_alignment));
  const size_t total = layout.total_count();
  if (initial == nullptr && total > 0) {
    return InvalidArgument(
        fmt::format("initial parameters are null on rank {}: {} floats are "
                    "needed",
                    communicator.rank(), total));
  }
  const double scale = options.average_gradients ? 1.0 / ranks : 1.0;
  return AdamWUpdate::Create(std::move(layout), communicator.rank(),
                             options.hyper, scale, {initial, total});
}

uint64_t HashParameter(const ParameterSpec& parameter) {
  const uint64_t seed = 2 * parameter.count + (parameter.decay ? 1 : 0);
  return FingerprintText(parameter.name, seed);
}

uint64_t HashParameters(const std::vector<ParameterSpec>& parameters) {
  uint64_t hash = 0;
  for (const ParameterSpec& parameter : parameters) {
    const uint64_t one = HashParameter(parameter);
    hash = Fingerprint(&one, sizeof(one), hash);
  }
  return hash;
}

Status CheckSettingsAgree(Communicator* communicator,
                          const ShardedAdamWOptions& options,
                          const Status& own) {
  Agreement agreement("options of ShardedAdamW");
  agreement.Refuse(own);
  agreement.AddInteger("the number of parameters", options.parameters.size());
  agreement.AddInteger("shard_alignment", options.shard_alignment);
  agreement.AddInteger("gradient_type",
                       static_cast<int>(options.gradient_type));
  agreement.AddInteger("parameter_type",
                       static_cast<int>(options.parameter_type));
  agreement.AddInteger("average_gradients", options.average_gradients);
  agreement.AddInteger("decoupled", options.hyper.decoupled);
  agreement.AddNumber("learning_rate", options.hyper.learning_rate);
  agreement.AddNumber("beta1", options.hyper.beta1);
  agreement.AddNumber("beta2", options.hyper.beta2);
  agreement.AddNumber("epsilon", options.hyper.epsilon);
  agreement.AddNumber("weight_decay", options.hyper.weight_decay);
  return agreement.Check(communicator);
}

// Once the number of parameters is known to agree. Names the first parameter
// that differs, in a second exchange that is only made when one does.
Status CheckParametersAgree(Communicator* communicator,
                            const std::vector<ParameterSpec>& parameters) {
  Agreement all("options of ShardedAdamW");
  all.AddHash("the list of parameters", HashParameters(parameters));
  const Status status = all.Check(communicator);
  if (status.code() != Code::kMismatch) return status;

  Agreement each("options of ShardedAdamW");
  for (size_t i = 0; i < parameters.size(); ++i) {
    const ParameterSpec& parameter = parameters[i];
    each.AddHash(fmt::format("parameter {} (on rank {}: '{}', {} elements, "
                             "decay {})",
                             i, communicator->rank(), parameter.name,
                             parameter.count, parameter.decay ? "on" : "off"),
                 HashParameter(parameter));
  }
  const Status detail = each.Check(communicator);
  return detail.ok() ? status : detail;
}

}  // namespace

Result<std::unique_ptr<ShardedAdamW>> ShardedAdamW::Create(
    Communicator* communicator, const ShardedAdamWOptions& options,
    const float* initial) {
  if (communicator == nullptr) return InvalidArgument("communicator is null");
  Result<AdamWUpdate> update = MakeUpdate(*communicator, options, initial);
  RONDO_RETURN_IF_ERROR(
      CheckSettingsAgree(communicator, options, update.status()));
  RONDO_RETURN_IF_ERROR(CheckParametersAgree(communicator, options.parameters));
  // Each rank keeps its shard of its own copy: a different seed would mix
  // models.
  Agreement values("initial values given to ShardedAdamW");
  const size_t total_bytes = update->layout().total_count() * sizeof(float);
  values.AddHash("the parameter vector", Fingerprint(initial, total_bytes));
  RONDO_RETURN_IF_ERROR(values.Check(communicator));
  return std::unique_ptr<ShardedAdamW>(
      new ShardedAdamW(communicator, options.gradient_type,
                       options.parameter_type, *std::move(update)));
}

ShardedAdamW::ShardedAdamW(Communicator* communicator, DataType gradient_type,
                           DataType parameter_type, AdamWUpdate update)
    : communicator_(communicator),
      gradient_type_(gradient_type),
      parameter_type_(parameter_type),
      update_(std::move(update)) {}

ShardedAdamW::~ShardedAdamW() {
  // The call holds a pointer to update_; nobody is left to tell about its end.
  if (pending_.has_value()) static_cast<void>(pending_->Wait());
}

Status ShardedAdamW::Step(const void* gradients, void* parameters) {
  RONDO_RETURN_IF_ERROR(StepStart(gradients, parameters).status());
  return FinishPending();
}

Result<Request> ShardedAdamW::StepStart(const void* gradients,
                                        void* parameters) {
  if (pending_.has_value() && !pending_->Test()) {
    return InvalidUsage(fmt::format(
        "step {} is still running on rank {}: wait for its request first",
        steps_, communicator_->rank()));
  }
  RONDO_RETURN_IF_ERROR(FinishPending());
  if ((gradients == nullptr || parameters == nullptr) &&
      layout().total_count() > 0) {
    return InvalidArgument(
        fmt::format("{} are null on rank {}: {} elements are needed",
                    gradients == nullptr ? "gradients" : "parameters",
                    communicator_->rank(), layout().total_count()));
  }
  RONDO_RETURN_IF_ERROR(update_.BeginStep(steps_ + 1));
  CollectiveCall call;
  call.collective = Collective::kShardedStep;
  call.input = gradients;
  call.output = parameters;
  call.counts = layout().shard_counts();
  call.type = gradient_type_;
  call.output_type = parameter_type_;
  call.parameter_counts = layout().parameter_counts();
  call.update = &update_;
  RONDO_ASSIGN_OR_RETURN(Request request, communicator_->Start(call));
  ++steps_;
  pending_ = request;
  return request;
}

// Takes note of how the step in flight ended, and waits for that if need be.
Status ShardedAdamW::FinishPending() {
  if (pending_.has_value()) {
    Status status = pending_->Wait();
    pending_.reset();
    const size_t shard = layout().shard_counts()[communicator_->rank()];
    if (status.ok() && update_.applied_count() != shard) {
      status = Internal(
          fmt::format("{} elements were updated on rank {}, whose "
                      "shard has {}",
                      update_.applied_count(), communicator_->rank(), shard));
    }
    failure_ = status.WithContext(fmt::format("optimizer step {}", steps_));
  }
  return failure_;
}

Status ShardedAdamW::SetLearningRate(double learning_rate) {
  AdamWHyper hyper = update_.hyper();
  hyper.learning_rate = learning_rate;
  return update_.SetHyper(hyper);
}

OptimizerBytes ShardedAdamW::bytes() const {
  const size_t total = layout().total_count();
  const size_t shard = layout().shard_counts()[communicator_->rank()];
  OptimizerBytes bytes;
  bytes.parameters = total * ElementSize(parameter_type_);
  bytes.gradients = total * ElementSize(gradient_type_);
  bytes.master = shard * sizeof(float);
  bytes.first_moment = shard * sizeof(float);
  bytes.second_moment = shard * sizeof(float);
  bytes.scratch = update_.scratch_bytes();
  return bytes;
}

}  // namespace rondo
