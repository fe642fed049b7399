#include "optimizer/testing/optimizer_run.h"

#include <algorithm>
#include <mutex>
#include <random>

#include "collectives/kernels/convert.h"
#include "collectives/symmetric_buffer.h"
#include "collectives/testing/world.h"
#include "gtest/gtest.h"
#include "optimizer/kernels/adam_rule.h"

namespace rondo {
namespace {

std::unique_ptr<UpdateRule> DefaultRule() {
  AdamHyper hyper{.learning_rate = 0.05,
                  .beta1 = 0.1,
                  .beta2 = 0.2,
                  .epsilon = 0.25,
                  .weight_decay = 0.1};
  AdamHyper no_decay = hyper;
  no_decay.weight_decay = 0;
  no_decay.learning_rate = 0.03;
  auto rule = AdamRule::Create({hyper, no_decay});
  EXPECT_TRUE(rule.ok()) << rule.status().ToString();
  return *std::move(rule);
}

// Bytes that are the rank's own or symmetric, away from a cache line where
// they are its own.
class Bytes {
 public:
  Bytes(size_t count, bool symmetric) {
    if (!symmetric) {
      own_.resize(count + kAwayBytes);
      return;
    }
    auto buffer = SymmetricBuffer::Allocate(std::max<size_t>(count, 1));
    EXPECT_TRUE(buffer.ok()) << buffer.status().ToString();
    symmetric_ = *std::move(buffer);
  }
  char* data() {
    return own_.empty() ? static_cast<char*>(symmetric_.data())
                        : own_.data() + kAwayBytes;
  }

 private:
  static constexpr size_t kAwayBytes = 8;
  std::vector<char> own_;
  SymmetricBuffer symmetric_;
};

Status Put(DataType type, const std::vector<float>& values, char* at) {
  return ConvertElements(DataType::kFloat32, values.data(), type, at,
                         values.size());
}

// One rank of a run.
class RankRun {
 public:
  RankRun(const OptimizerRun& run, Communicator* comm)
      : run_(run),
        comm_(comm),
        layout_(*ShardedOptimizer::LayoutFor(*comm, run.options)),
        parameters_(layout_.parameter_bytes(), run.symmetric),
        gradients_(
            layout_.gradient_count() * ElementSize(run.options.gradient_type),
            run.symmetric) {}

  void Run(RunOutcome* outcome, std::mutex* mutex) {
    for (size_t i = 0; i < layout_.parameters().size(); ++i) {
      const LayoutParameter& p = layout_.parameters()[i];
      if (p.tied() || p.count() == 0) continue;
      const int parameter = static_cast<int>(i);
      ASSERT_TRUE(Put(p.type, InitialOf(p.count(), parameter),
                      parameters_.data() +
                          layout_.PlaceOf(parameter).parameter_offset_bytes)
                      .ok());
    }
    Make();
    for (int step = 1; step <= run_.steps && optimizer_; ++step) {
      Step(step, outcome);
      if (step == run_.restart_after) Restart();
    }
    if (!optimizer_) return;
    std::lock_guard<std::mutex> lock(*mutex);
    Collect(outcome);
  }

 private:
  void Make() {
    auto rule = run_.make_rule ? run_.make_rule() : DefaultRule();
    auto made = ShardedOptimizer::Create(comm_, std::move(rule), run_.options,
                                         parameters_.data());
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    optimizer_ = *std::move(made);
  }

  void Step(int step, RunOutcome* outcome) {
    FillGradients(step);
    if (run_.before_step) run_.before_step(step, &optimizer_->rule());
    const Result<StepResult> result = optimizer_->Step(
        gradients_.data(), parameters_.data(), run_.step_options);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    if (comm_->rank() == 0) outcome->results.push_back(*result);
  }

  void FillGradients(int step) {
    const size_t element_bytes = ElementSize(run_.options.gradient_type);
    for (size_t i = 0; i < layout_.parameters().size(); ++i) {
      const LayoutParameter& p = layout_.parameters()[i];
      if (p.tied() || p.frozen || p.count() == 0) continue;
      const int parameter = static_cast<int>(i);
      std::vector<float> gradient =
          GradientOf(p.count(), parameter, step, comm_->rank());
      if (run_.adjust_gradient) {
        run_.adjust_gradient(step, comm_->rank(), parameter, &gradient);
      }
      ASSERT_TRUE(
          Put(run_.options.gradient_type, gradient,
              gradients_.data() +
                  layout_.PlaceOf(parameter).gradient_offset * element_bytes)
              .ok());
    }
  }

  // From copies, as if they had been read from a file.
  void Restart() {
    const auto copy = [](std::span<float> from) {
      return std::vector<float>(from.begin(), from.end());
    };
    const std::vector<float> master = copy(optimizer_->master());
    std::vector<std::vector<float>> states;
    for (int i = 0; i < optimizer_->rule().state_count(); ++i) {
      states.push_back(copy(optimizer_->state(i)));
    }
    const int64_t steps = optimizer_->steps();
    optimizer_.reset();
    Make();
    if (!optimizer_) return;
    std::copy(master.begin(), master.end(), optimizer_->master().begin());
    for (size_t i = 0; i < states.size(); ++i) {
      std::copy(states[i].begin(), states[i].end(),
                optimizer_->state(static_cast<int>(i)).begin());
    }
    optimizer_->SetSteps(steps);
  }

  void Collect(RunOutcome* outcome) {
    const size_t count = layout_.parameters().size();
    const int states = optimizer_->rule().state_count();
    outcome->master.resize(count);
    outcome->states.resize(states);
    for (auto& state : outcome->states) state.resize(count);
    std::vector<std::vector<float>> parameters(count);
    for (size_t i = 0; i < count; ++i) {
      const LayoutParameter& p = layout_.parameters()[i];
      parameters[i].resize(p.count());
      if (p.count() == 0) continue;
      ASSERT_TRUE(
          ConvertElements(
              p.type,
              parameters_.data() +
                  layout_.PlaceOf(static_cast<int>(i)).parameter_offset_bytes,
              DataType::kFloat32, parameters[i].data(), p.count())
              .ok());
    }
    if (outcome->parameters.empty()) outcome->parameters = parameters;
    EXPECT_EQ(outcome->parameters, parameters) << "rank " << comm_->rank();
    for (size_t b = 0; b < layout_.buckets().size(); ++b) {
      if (layout_.buckets()[b].frozen) continue;
      CollectShard(static_cast<int>(b), outcome);
    }
  }

  void CollectShard(int bucket, RunOutcome* outcome) {
    for (const ShardPiece& piece : layout_.ShardPieces(bucket, comm_->rank())) {
      const size_t count = layout_.parameters()[piece.parameter].count();
      const auto take = [&](std::span<float> from, std::vector<float>* to) {
        to->resize(count);
        std::copy_n(from.begin() + piece.state_offset, piece.count,
                    to->begin() + piece.parameter_offset);
      };
      take(optimizer_->master(), &outcome->master[piece.parameter]);
      for (size_t i = 0; i < outcome->states.size(); ++i) {
        take(optimizer_->state(static_cast<int>(i)),
             &outcome->states[i][piece.parameter]);
      }
    }
  }

  const OptimizerRun& run_;
  Communicator* comm_;
  ModelLayout layout_;
  Bytes parameters_;
  Bytes gradients_;
  std::unique_ptr<ShardedOptimizer> optimizer_;
};

}  // namespace

std::vector<float> RandomFloats(size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

std::vector<float> GradientOf(size_t count, int parameter, int step, int rank) {
  return RandomFloats(count, 10'000 * parameter + 100 * step + rank + 1);
}

std::vector<float> InitialOf(size_t count, int parameter) {
  return RandomFloats(count, 1'000'000 + parameter);
}

RunOutcome RunOptimizer(const OptimizerRun& run) {
  RunOutcome outcome;
  std::mutex mutex;
  RunWorld(
      {.ranks = run.ranks, .host_ids = run.host_ids, .settings = run.settings},
      [&](Communicator& comm) {
        RankRun rank(run, &comm);
        rank.Run(&outcome, &mutex);
      });
  return outcome;
}

std::vector<LayoutParameter> SomeParameters(DataType type) {
  return {{.name = "embedding", .shape = {61, 67}, .type = type},
          {.name = "empty", .shape = {0, 3}, .type = type},
          {.name = "scalar", .shape = {}, .type = type, .group = 1},
          {.name = "prime", .shape = {1031}, .type = type},
          {.name = "norm", .shape = {7}, .type = type, .group = 1},
          {.name = "tile", .shape = {1024}, .type = type}};
}

}  // namespace rondo
