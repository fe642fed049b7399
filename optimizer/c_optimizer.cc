// The C API's optimizers.

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "collectives/c_handle.h"
#include "fmt/format.h"
#include "optimizer/kernels/adam_rule.h"
#include "optimizer/rondo_optimizer.h"
#include "optimizer/sharded_optimizer.h"

struct rondoOptimizer {
  std::unique_ptr<rondo::ShardedOptimizer> optimizer;
  rondo::AdamRule* adam = nullptr;  // the optimizer's, where it is Adam
};

namespace rondo {
namespace {

// A rule of a C program.
class ForeignRule final : public UpdateRule {
 public:
  explicit ForeignRule(const rondoUpdateRule_t& rule)
      : rule_(rule), name_(rule.name) {}

  std::string_view name() const override { return name_; }
  int state_count() const override { return rule_.state_count; }
  int group_count() const override { return rule_.group_count; }

  Status BeginStep(int64_t step) override {
    if (rule_.begin_step == nullptr) return Status::Ok();
    const rondoResult_t result = rule_.begin_step(rule_.self, step);
    if (result == rondoSuccess) return Status::Ok();
    return InvalidUsage(
        fmt::format("begin_step of rule '{}' returned {} for "
                    "step {}",
                    name_, static_cast<int>(result), step));
  }
  uint64_t Fingerprint() const override {
    return rule_.fingerprint == nullptr ? 0 : rule_.fingerprint(rule_.self);
  }
  void ApplyTile(int group, const float* gradient, float* parameter,
                 float* const* states, size_t count) const override {
    rule_.apply_tile(rule_.self, group, gradient, parameter, states, count);
  }

 private:
  rondoUpdateRule_t rule_;
  std::string name_;  // the program may free its own
};

Result<AdamHyper> HyperOf(const rondoAdam_t& adam) {
  if (adam.size != sizeof(rondoAdam_t)) {
    return InvalidArgument(
        "the hyper-parameters were not made with RONDO_ADAM_INITIALIZER");
  }
  return AdamHyper{.learning_rate = adam.learning_rate,
                   .beta1 = adam.beta1,
                   .beta2 = adam.beta2,
                   .epsilon = adam.epsilon,
                   .weight_decay = adam.weight_decay,
                   .decoupled = adam.decoupled != 0,
                   .amsgrad = adam.amsgrad != 0,
                   .mode = adam.accurate != 0 ? AdamMode::kAccurate
                                              : AdamMode::kTorchCompat};
}

Result<std::unique_ptr<UpdateRule>> AdamOf(const rondoAdam_t* groups,
                                           int group_count) {
  if (group_count > 0) RONDO_RETURN_IF_ERROR(NeedPointer(groups, "groups"));
  std::vector<AdamHyper> hyper;
  for (int i = 0; i < group_count; ++i) {
    RONDO_ASSIGN_OR_RETURN(const AdamHyper one, HyperOf(groups[i]));
    hyper.push_back(one);
  }
  RONDO_ASSIGN_OR_RETURN(auto rule, AdamRule::Create(std::move(hyper)));
  return std::unique_ptr<UpdateRule>(std::move(rule));
}

Result<std::unique_ptr<UpdateRule>> RuleOf(const rondoUpdateRule_t* rule) {
  RONDO_RETURN_IF_ERROR(NeedPointer(rule, "rule"));
  RONDO_RETURN_IF_ERROR(NeedPointer(rule->name, "rule->name"));
  if (rule->apply_tile == nullptr) {
    return InvalidArgument("rule->apply_tile is NULL");
  }
  return std::unique_ptr<UpdateRule>(std::make_unique<ForeignRule>(*rule));
}

Result<LayoutParameter> ParameterOf(const rondoParameter_t& from, int index) {
  const auto refuse = [index](const std::string& why) {
    return InvalidArgument(fmt::format("parameter {}: {}", index, why));
  };
  if (from.name == nullptr) return refuse("the name is NULL");
  if (from.dimensions < 0 || (from.dimensions > 0 && from.shape == nullptr)) {
    return refuse(fmt::format("a shape of {} dimensions at {}", from.dimensions,
                              static_cast<const void*>(from.shape)));
  }
  const Result<DataType> type = DataTypeFromNumber(static_cast<int>(from.type));
  if (!type.ok()) return refuse(std::string(type.status().message()));
  LayoutParameter parameter{.name = from.name,
                            .type = *type,
                            .group = from.group,
                            .unit = from.unit,
                            .frozen = from.frozen != 0};
  if (from.dimensions > 0) {
    parameter.shape.assign(from.shape, from.shape + from.dimensions);
  }
  if (from.tied_to != nullptr) parameter.tied_to = from.tied_to;
  return parameter;
}

Result<ShardedOptimizerOptions> OptionsOf(
    const rondoParameter_t* parameters, int count,
    const rondoOptimizerConfig_t* config) {
  ShardedOptimizerOptions options;
  if (config != nullptr) {
    if (config->magic != RONDO_OPTIMIZER_CONFIG_MAGIC ||
        config->size != sizeof(*config)) {
      return InvalidArgument(
          "the config was not made with RONDO_OPTIMIZER_CONFIG_INITIALIZER");
    }
    RONDO_ASSIGN_OR_RETURN(
        options.gradient_type,
        DataTypeFromNumber(static_cast<int>(config->gradient_type)));
    options.average_gradients = config->average != 0;
    if (config->separate != 0) options.schedule = StepSchedule::kSeparate;
    if (config->bucket_count != 0) {
      options.bucket_count_target = config->bucket_count;
    }
  }
  if (count < 0) {
    return InvalidArgument(
        fmt::format("{} parameters: 0 or more are accepted", count));
  }
  if (count > 0) {
    RONDO_RETURN_IF_ERROR(NeedPointer(parameters, "parameters"));
  }
  for (int i = 0; i < count; ++i) {
    RONDO_ASSIGN_OR_RETURN(LayoutParameter parameter,
                           ParameterOf(parameters[i], i));
    options.parameters.push_back(std::move(parameter));
  }
  return options;
}

Result<ModelLayout> LayoutOf(rondoComm_t comm,
                             const rondoParameter_t* parameters, int count,
                             const rondoOptimizerConfig_t* config) {
  RONDO_RETURN_IF_ERROR(NeedComm(comm));
  RONDO_ASSIGN_OR_RETURN(const ShardedOptimizerOptions options,
                         OptionsOf(parameters, count, config));
  return ShardedOptimizer::LayoutFor(*comm->communicator, options);
}

using MadeRule = Result<std::unique_ptr<UpdateRule>>;

// What is wrong on this rank alone is told to the others, who are waiting.
Status Make(rondoOptimizer_t* optimizer, rondoComm_t comm,
            const rondoParameter_t* parameters, int count,
            const rondoOptimizerConfig_t* config, MadeRule rule,
            const void* buffer) {
  RONDO_RETURN_IF_ERROR(NeedComm(comm));
  Communicator* const communicator = comm->communicator.get();
  const auto options = OptionsOf(parameters, count, config);
  Status own = NeedPointer(optimizer, "optimizer");
  if (own.ok()) *optimizer = nullptr;
  if (own.ok()) own = options.status();
  if (own.ok()) own = rule.status();
  if (!own.ok()) return ShardedOptimizer::RefuseToCreate(communicator, own);
  auto made = std::make_unique<rondoOptimizer>();
  made->adam = dynamic_cast<AdamRule*>(rule->get());
  RONDO_ASSIGN_OR_RETURN(
      made->optimizer, ShardedOptimizer::Create(communicator, *std::move(rule),
                                                *options, buffer));
  *optimizer = made.release();
  return Status::Ok();
}

rondoStepResult_t ResultOf(const StepResult& result) {
  return {.step = result.step,
          .skipped = result.skipped ? 1 : 0,
          .finite = result.finite ? 1 : 0,
          .norm = result.norm,
          .coefficient = result.coefficient,
          .total_us = result.timings.total_us,
          .reduce_us = result.timings.reduce_us,
          .norm_us = result.timings.norm_us,
          .update_us = result.timings.update_us,
          .gather_us = result.timings.gather_us};
}

}  // namespace
}  // namespace rondo

using rondo::AdamHyper;
using rondo::AdamOf;
using rondo::Guard;
using rondo::HyperOf;
using rondo::InvalidArgument;
using rondo::InvalidUsage;
using rondo::LayoutOf;
using rondo::Make;
using rondo::ModelLayout;
using rondo::NeedPointer;
using rondo::PlacedPiece;
using rondo::ResultOf;
using rondo::RuleOf;
using rondo::ShardedOptimizer;
using rondo::Status;
using rondo::StepOptions;
using rondo::StepResult;

rondoResult_t rondoOptimizerBufferSizes(rondoComm_t comm,
                                        const rondoParameter_t* parameters,
                                        int parameter_count,
                                        const rondoOptimizerConfig_t* config,
                                        size_t* gradient_count,
                                        size_t* parameter_bytes) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(NeedPointer(gradient_count, "gradient_count"));
    RONDO_RETURN_IF_ERROR(NeedPointer(parameter_bytes, "parameter_bytes"));
    RONDO_ASSIGN_OR_RETURN(const ModelLayout layout,
                           LayoutOf(comm, parameters, parameter_count, config));
    *gradient_count = layout.gradient_count();
    *parameter_bytes = layout.parameter_bytes();
    return Status::Ok();
  });
}

rondoResult_t rondoOptimizerPlace(rondoComm_t comm,
                                  const rondoParameter_t* parameters,
                                  int parameter_count,
                                  const rondoOptimizerConfig_t* config,
                                  int index, size_t* gradient_offset,
                                  size_t* parameter_offset_bytes) {
  return Guard([&]() -> Status {
    RONDO_ASSIGN_OR_RETURN(const ModelLayout layout,
                           LayoutOf(comm, parameters, parameter_count, config));
    if (index < 0 || index >= parameter_count) {
      return InvalidArgument(fmt::format("parameter {}: 0 to {} are there",
                                         index, parameter_count - 1));
    }
    const PlacedPiece place = layout.PlaceOf(index);
    if (gradient_offset != nullptr) *gradient_offset = place.gradient_offset;
    if (parameter_offset_bytes != nullptr) {
      *parameter_offset_bytes = place.parameter_offset_bytes;
    }
    return Status::Ok();
  });
}

rondoResult_t rondoOptimizerCreateAdam(rondoOptimizer_t* optimizer,
                                       rondoComm_t comm,
                                       const rondoParameter_t* parameters,
                                       int parameter_count,
                                       const rondoOptimizerConfig_t* config,
                                       const rondoAdam_t* groups,
                                       int group_count, const void* buffer) {
  return Guard([&] {
    return Make(optimizer, comm, parameters, parameter_count, config,
                AdamOf(groups, group_count), buffer);
  });
}

rondoResult_t rondoOptimizerCreate(rondoOptimizer_t* optimizer,
                                   rondoComm_t comm,
                                   const rondoParameter_t* parameters,
                                   int parameter_count,
                                   const rondoOptimizerConfig_t* config,
                                   const rondoUpdateRule_t* rule,
                                   const void* buffer) {
  return Guard([&] {
    return Make(optimizer, comm, parameters, parameter_count, config,
                RuleOf(rule), buffer);
  });
}

rondoResult_t rondoOptimizerDestroy(rondoOptimizer_t optimizer) {
  return Guard([&] {
    delete optimizer;
    return Status::Ok();
  });
}

rondoResult_t rondoOptimizerSetAdam(rondoOptimizer_t optimizer, int group,
                                    const rondoAdam_t* adam) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(NeedPointer(optimizer, "optimizer"));
    RONDO_RETURN_IF_ERROR(NeedPointer(adam, "adam"));
    if (optimizer->adam == nullptr) {
      return InvalidUsage("the optimizer has a rule of its own, not Adam");
    }
    RONDO_ASSIGN_OR_RETURN(const AdamHyper hyper, HyperOf(*adam));
    return optimizer->adam->SetGroup(group, hyper);
  });
}

rondoResult_t rondoOptimizerStep(rondoOptimizer_t optimizer,
                                 const void* gradients, void* parameters,
                                 const rondoStepOptions_t* options,
                                 rondoStepResult_t* result) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(NeedPointer(optimizer, "optimizer"));
    StepOptions step;
    if (options != nullptr) {
      step = {.max_norm = options->max_norm,
              .loss_scale = options->loss_scale,
              .skip_non_finite = options->skip_non_finite != 0};
    }
    RONDO_ASSIGN_OR_RETURN(
        const StepResult done,
        optimizer->optimizer->Step(gradients, parameters, step));
    if (result != nullptr) *result = ResultOf(done);
    return Status::Ok();
  });
}

rondoResult_t rondoOptimizerState(rondoOptimizer_t optimizer, int index,
                                  float** data, size_t* count) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(NeedPointer(optimizer, "optimizer"));
    RONDO_RETURN_IF_ERROR(NeedPointer(data, "data"));
    RONDO_RETURN_IF_ERROR(NeedPointer(count, "count"));
    ShardedOptimizer& sharded = *optimizer->optimizer;
    const int states = sharded.rule().state_count();
    if (index < -1 || index >= states) {
      return InvalidArgument(fmt::format(
          "state {}: -1 (the master copy) to {} are there", index, states - 1));
    }
    const std::span<float> array =
        index < 0 ? sharded.master() : sharded.state(index);
    *data = array.data();
    *count = array.size();
    return Status::Ok();
  });
}

rondoResult_t rondoOptimizerGetSteps(rondoOptimizer_t optimizer,
                                     int64_t* steps) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(NeedPointer(optimizer, "optimizer"));
    RONDO_RETURN_IF_ERROR(NeedPointer(steps, "steps"));
    *steps = optimizer->optimizer->steps();
    return Status::Ok();
  });
}

rondoResult_t rondoOptimizerSetSteps(rondoOptimizer_t optimizer,
                                     int64_t steps) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(NeedPointer(optimizer, "optimizer"));
    if (steps < 0) {
      return InvalidArgument(
          fmt::format("{} steps: 0 or more are accepted", steps));
    }
    optimizer->optimizer->SetSteps(steps);
    return Status::Ok();
  });
}
