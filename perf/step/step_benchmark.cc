#include "perf/step/step_benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "perf/bench/gather.h"
#include "perf/bench/measure.h"
#include "perf/step/direct_collectives.h"
#include "perf/step/step_model.h"
#include "perf/step/turns.h"

namespace rondo::perf {
namespace {

constexpr double kNormEpsilon = 1e-6;  // as clip_grad_norm_ has it

Result<double> NormOf(const Result<StepResult>& result) {
  RONDO_RETURN_IF_ERROR(result.status());
  return result->norm;
}

}  // namespace

Result<std::unique_ptr<StepBenchmark>> StepBenchmark::Create(
    const StepBenchmarkOptions& options, Communicator* communicator) {
  std::unique_ptr<StepBenchmark> benchmark(
      new StepBenchmark(options, communicator));
  RONDO_RETURN_IF_ERROR(benchmark->Prepare());
  return benchmark;
}

Status StepBenchmark::Prepare() {
  RONDO_ASSIGN_OR_RETURN(
      const ModelLayout layout,
      ShardedOptimizer::LayoutFor(
          *communicator_,
          StepOptimizerOptions(options_, StepSchedule::kFused)));
  RONDO_RETURN_IF_ERROR(Agree(communicator_, Allocate(layout)));
  RONDO_ASSIGN_OR_RETURN(fused_, MakeOptimizer(StepSchedule::kFused));
  RONDO_ASSIGN_OR_RETURN(separate_, MakeOptimizer(StepSchedule::kSeparate));
  AddAllSteps();
  return Status::Ok();
}

Status StepBenchmark::Allocate(const ModelLayout& layout) {
  const size_t gradient_bytes = (layout.gradient_count() + kSpareGradients) *
                                ElementSize(options_.gradient_type);
  RONDO_ASSIGN_OR_RETURN(gradients_,
                         Buffer::Allocate(options_.buffers, gradient_bytes));
  for (Buffer* buffer : {&parameters_, &fused_parameters_}) {
    const BufferKind kind =
        buffer == &parameters_ ? options_.buffers : BufferKind::kUser;
    RONDO_ASSIGN_OR_RETURN(*buffer,
                           Buffer::Allocate(kind, layout.parameter_bytes()));
    std::memset(buffer->data(), 0, buffer->bytes());
  }
  RONDO_ASSIGN_OR_RETURN(
      shard_, PrivateMemory::Allocate(layout.state_count() * sizeof(float)));
  return Status::Ok();
}

Result<std::unique_ptr<ShardedOptimizer>> StepBenchmark::MakeOptimizer(
    StepSchedule schedule) const {
  RONDO_ASSIGN_OR_RETURN(std::unique_ptr<AdamRule> rule,
                         AdamRule::Create(StepHypers()));
  return ShardedOptimizer::Create(communicator_, std::move(rule),
                                  StepOptimizerOptions(options_, schedule),
                                  parameters_.data());
}

void StepBenchmark::AddOptimizerStep(std::string_view figure, std::string name,
                                     bool clips, ShardedOptimizer* optimizer) {
  ways_.push_back(
      {std::string(figure), std::move(name), clips,
       /*same_bits=*/true, optimizer,
       [optimizer](const void* gradients, void* parameters, double max_norm) {
         return NormOf(
             optimizer->Step(gradients, parameters, {.max_norm = max_norm}));
       }});
}

void StepBenchmark::AddSeparateStep(std::string_view figure, std::string name,
                                    bool clips, StepCollectives collectives) {
  separate_steps_.push_back(std::make_unique<SeparateStep>(
      communicator_, separate_.get(), options_.gradient_type,
      std::move(collectives), reinterpret_cast<float*>(shard_.data())));
  SeparateStep* const step = separate_steps_.back().get();
  ways_.push_back(
      {std::string(figure), std::move(name), clips, /*same_bits=*/false,
       separate_.get(),
       [step](const void* gradients, void* parameters, double max_norm) {
         return step->Step(gradients, parameters, max_norm);
       }});
}

// The baselines are the fastest that there are: where two ways may be the
// faster one, both run.
void StepBenchmark::AddAllSteps() {
  AddOptimizerStep(kFused, "one pass", false, fused_.get());
  AddOptimizerStep(kFusedClip, "two passes", true, fused_.get());
  AddOptimizerStep(kUnfused, "the optimizer's passes", false, separate_.get());
  AddOptimizerStep(kUnfusedClipBest, "norm inside the reduce-scatter", true,
                   separate_.get());
  std::vector<std::pair<ReduceWay, std::string>> reduces = {
      {ReduceWay::kReduceUpdate, "streamed sums"}};
  if (options_.gradient_type == DataType::kFloat32) {
    reduces.push_back({ReduceWay::kReduceScatter, "plain reduce-scatter"});
  }
  for (bool clips : {false, true}) {
    for (const auto& [way, name] : reduces) {
      AddSeparateStep(
          clips ? kUnfusedClip : kUnfused, name, clips,
          RondoCollectives(communicator_, options_.gradient_type, way));
    }
  }
}

// A quarter of what the norm of uniform gradients in [-1, 1] is expected to be.
double StepBenchmark::max_norm() const {
  const double elements = static_cast<double>(layout().used_count());
  return std::sqrt(elements / (3.0 * communicator_->world_size())) / 4;
}

Status StepBenchmark::Run(ProgressLine* progress, StepRun* run) {
  Describe(run);
  progress->Show("step: checking");
  RONDO_RETURN_IF_ERROR(Check(/*seed=*/1));
  progress->Show("step: timing");
  RONDO_RETURN_IF_ERROR(Time(/*seed=*/2, run));
  progress->Show("step: checking");
  RONDO_RETURN_IF_ERROR(Check(/*seed=*/3));
  if (options_.check) {
    RONDO_ASSIGN_OR_RETURN(run->wrong, SumOverRanks(communicator_, wrong_));
    run->checked = checked_;
  }
  progress->Clear();
  return Status::Ok();
}

void StepBenchmark::Describe(StepRun* run) const {
  run->model = options_.model;
  run->parameters = static_cast<int64_t>(layout().used_count());
  run->gradient_type = DataTypeName(options_.gradient_type);
  run->parameter_type = DataTypeName(options_.parameter_type);
  run->buffers = BufferKindName(options_.buffers);
  run->bucket_count_target = options_.bucket_count_target;
  run->rounds = options_.rounds;
  run->warmup_rounds = options_.warmup_rounds;
  const OptimizerBytes bytes = fused_->bytes();
  run->state_bytes = static_cast<int64_t>(bytes.layout.master.total() +
                                          bytes.layout.moments.total());
}

Status StepBenchmark::Check(uint64_t seed) {
  if (!options_.check) return Status::Ok();
  const ModelCheck check(&layout(), communicator_, options_, seed);
  check.FillGradients(gradients_.data());
  checked_ = check.checked_count();
  RONDO_RETURN_IF_ERROR(CheckWays(check, /*clips=*/false));
  return CheckWays(check, /*clips=*/true);
}

Result<std::vector<double>> StepBenchmark::Coefficients(
    const ModelCheck& check, bool clips, std::vector<double>* norms) const {
  std::vector<double> coefficients(kCheckedSteps, 1.0);
  norms->assign(kCheckedSteps, 0.0);
  for (int step = 1; clips && step <= kCheckedSteps; ++step) {
    RONDO_ASSIGN_OR_RETURN((*norms)[step - 1], check.Norm(step));
    coefficients[step - 1] =
        std::min(1.0, max_norm() / ((*norms)[step - 1] + kNormEpsilon));
  }
  return coefficients;
}

Status StepBenchmark::CheckWays(const ModelCheck& check, bool clips) {
  std::vector<double> norms;
  RONDO_ASSIGN_OR_RETURN(const std::vector<double> coefficients,
                         Coefficients(check, clips, &norms));
  const void* fused = nullptr;  // what the first way, the fused one, gave
  for (const StepWay& way : ways_) {
    if (way.clips != clips) continue;
    RONDO_RETURN_IF_ERROR(MakeSteps(check, way, norms).WithContext(way.figure));
    wrong_ += check.CountOutside(coefficients, parameters_.data(), fused);
    if (fused == nullptr) {
      std::memcpy(fused_parameters_.data(), parameters_.data(),
                  parameters_.bytes());
      fused = fused_parameters_.data();
    } else if (way.same_bits) {
      wrong_ += check.CountDifferent(parameters_.data(), fused);
    }
  }
  return Status::Ok();
}

Status StepBenchmark::MakeSteps(const ModelCheck& check, const StepWay& way,
                                const std::vector<double>& norms) {
  check.Reset(way.optimizer, parameters_.data());
  // A rank that is ahead writes into the parameters of the others.
  RONDO_RETURN_IF_ERROR(communicator_->Barrier());
  for (int step = 1; step <= kCheckedSteps; ++step) {
    RONDO_ASSIGN_OR_RETURN(
        const double norm,
        way.step(gradients_.data() + check.GradientOffset(step),
                 parameters_.data(), way.clips ? max_norm() : 0.0));
    const double want = norms[step - 1];
    const double error = std::abs(norm - want);
    if (!(error <= check.norm_tolerance() * want)) ++wrong_;
  }
  return Status::Ok();
}

Status StepBenchmark::Time(uint64_t seed, StepRun* run) {
  const ModelCheck filler(&layout(), communicator_, options_, seed);
  filler.FillGradients(gradients_.data());
  filler.Reset(fused_.get(), parameters_.data());
  filler.Reset(separate_.get(), parameters_.data());
  RONDO_ASSIGN_OR_RETURN(
      const std::unique_ptr<StepLimit> limit,
      StepLimit::Create(
          communicator_,
          {.shard_count = layout().state_count(),
           .gradient_bytes = ElementSize(options_.gradient_type),
           .parameter_bytes = ElementSize(options_.parameter_type)}));
  std::vector<Contender> contenders;
  for (const StepWay& way : ways_) {
    run->ways.push_back({way.figure, way.name, 0, {}});
    contenders.push_back({way.name, [this, &way] {
                            return way
                                .step(gradients_.data(), parameters_.data(),
                                      way.clips ? max_norm() : 0.0)
                                .status();
                          }});
  }
  const auto add = [&](std::string_view figure,
                       const std::vector<Contender>& loops) {
    for (const Contender& loop : loops) {
      run->ways.push_back({std::string(figure), loop.name, 0, {}});
      contenders.push_back(loop);
    }
  };
  add(kLimit, limit->limit_loops());
  add(kCopy, limit->copy_loops());
  run->limit_bytes = limit->limit_bytes();
  run->copy_bytes = limit->copy_bytes();
  RONDO_ASSIGN_OR_RETURN(std::vector<TurnTimes> times,
                         TakeTurns(communicator_,
                                   {.warmup_rounds = options_.warmup_rounds,
                                    .rounds = options_.rounds},
                                   contenders));
  for (size_t i = 0; i < times.size(); ++i) {
    run->ways[i].median_ms = times[i].median_ms();
    run->ways[i].round_ms = std::move(times[i].round_ms);
  }
  return Status::Ok();
}

}  // namespace rondo::perf
