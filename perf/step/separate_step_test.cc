#include "perf/step/separate_step.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "collectives/testing/world.h"
#include "gtest/gtest.h"
#include "optimizer/kernels/adam_rule.h"
#include "perf/step/direct_collectives.h"

namespace rondo::perf {
namespace {

constexpr size_t kCount = 5000;  // not whole tiles
constexpr int kSteps = 3;

ShardedOptimizerOptions Options(DataType type) {
  return {
      .parameters = {{.name = "w", .shape = {kCount - 700}, .type = type},
                     {.name = "b", .shape = {700}, .type = type, .group = 1}},
      .bucket_count_target = 2048};
}

std::unique_ptr<ShardedOptimizer> MakeOptimizer(
    Communicator* comm, const ShardedOptimizerOptions& options,
    const std::vector<char>& parameters) {
  auto rule = AdamRule::Create(
      {{.learning_rate = 0.1, .epsilon = 1, .weight_decay = 0.1},
       {.learning_rate = 0.1, .epsilon = 1, .weight_decay = 0}});
  EXPECT_TRUE(rule.ok());
  auto optimizer = ShardedOptimizer::Create(comm, *std::move(rule), options,
                                            parameters.data());
  EXPECT_TRUE(optimizer.ok()) << optimizer.status().ToString();
  return *std::move(optimizer);
}

// Runs both kinds of step on the same values; `compare` gets both parameters.
template <typename Compare>
void RunBoth(Communicator* comm, ReduceWay way, double max_norm,
             const Compare& compare) {
  const ShardedOptimizerOptions options = Options(DataType::kBfloat16);
  const auto layout = ShardedOptimizer::LayoutFor(*comm, options);
  ASSERT_TRUE(layout.ok());
  std::vector<char> fused(layout->parameter_bytes());
  std::vector<char> separate = fused;
  std::vector<float> gradients(layout->gradient_count());
  for (size_t i = 0; i < gradients.size(); ++i) {
    gradients[i] = std::sin(static_cast<float>(i) * 0.1f) +
                   static_cast<float>(comm->rank());
  }
  const auto reference = MakeOptimizer(comm, options, fused);
  const auto state = MakeOptimizer(comm, options, separate);
  std::vector<float> shard(layout->state_count());
  SeparateStep step(comm, state.get(), DataType::kFloat32,
                    RondoCollectives(comm, DataType::kFloat32, way),
                    shard.data());
  for (int i = 0; i < kSteps; ++i) {
    const auto want =
        reference->Step(gradients.data(), fused.data(), {.max_norm = max_norm});
    const auto got = step.Step(gradients.data(), separate.data(), max_norm);
    ASSERT_TRUE(want.ok()) << want.status().ToString();
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    EXPECT_NEAR(*got, want->norm, 1e-6 * want->norm);
  }
  EXPECT_EQ(state->steps(), kSteps);
  compare(*layout, fused, separate);
}

int64_t CountDifferent(const ModelLayout& layout, const std::vector<char>& a,
                       const std::vector<char>& b) {
  int64_t different = 0;
  for (const LayoutBucket& bucket : layout.buckets()) {
    for (const LayoutPiece& piece : bucket.pieces) {
      for (size_t i = 0; i < piece.count; ++i) {
        const size_t at =
            bucket.parameter_offset_bytes + 2 * (piece.bucket_offset + i);
        different += std::memcmp(&a[at], &b[at], 2) != 0;
      }
    }
  }
  return different;
}

TEST(SeparateStepTest, GivesTheBitsOfTheFusedStep) {
  for (ReduceWay way : {ReduceWay::kReduceScatter, ReduceWay::kReduceUpdate}) {
    RunWorld({.ranks = 2}, [&](Communicator& comm) {
      RunBoth(&comm, way, 0, [](const auto& layout, auto& a, auto& b) {
        EXPECT_EQ(CountDifferent(layout, a, b), 0);
      });
    });
  }
}

TEST(SeparateStepTest, ClipsByTheNormOfItsOwnPass) {
  RunWorld({.ranks = 2}, [&](Communicator& comm) {
    std::vector<char> clipped, unclipped;
    RunBoth(&comm, ReduceWay::kReduceUpdate, 0.5,
            [&](const auto& layout, auto& a, auto& b) {
              // The norms are summed in another order, so a rounding may
              // differ here and there.
              EXPECT_LE(CountDifferent(layout, a, b), 5);
              clipped = b;
            });
    RunBoth(&comm, ReduceWay::kReduceUpdate, 0,
            [&](const auto& layout, auto&, auto& b) {
              EXPECT_GT(CountDifferent(layout, clipped, b), 100);
            });
  });
}

TEST(SeparateStepTest, ScalesWhatItsCollectivesDoNot) {
  RunWorld({.ranks = 2}, [](Communicator& comm) {
    const ShardedOptimizerOptions options = Options(DataType::kFloat32);
    const auto layout = ShardedOptimizer::LayoutFor(comm, options);
    std::vector<char> parameters[2];
    for (auto& each : parameters) each.resize(layout->parameter_bytes());
    const std::vector<float> gradients(layout->gradient_count(), 0.75f);
    for (int i = 0; i < 2; ++i) {
      const auto state = MakeOptimizer(&comm, options, parameters[i]);
      StepCollectives collectives = RondoCollectives(&comm, DataType::kFloat32,
                                                     ReduceWay::kReduceScatter);
      if (i == 1) {
        collectives.reduce_scatter = [&](const LayoutBucket& bucket,
                                         const void* from, float* to) {
          return comm.ReduceScatter(from, to, bucket.ShardCount(2),
                                    DataType::kFloat32, Reduction::kSum);
        };
        collectives.scale = 0.5f;
      }
      std::vector<float> shard(layout->state_count());
      SeparateStep step(&comm, state.get(), DataType::kFloat32, collectives,
                        shard.data());
      const auto norm =
          step.Step(gradients.data(), parameters[i].data(), 0.125);
      ASSERT_TRUE(norm.ok());
      EXPECT_NEAR(*norm, 0.75 * std::sqrt(kCount), 1e-6 * *norm);
    }
    EXPECT_EQ(std::memcmp(parameters[0].data(), parameters[1].data(),
                          4 * (kCount - 700)),
              0);
  });
}

}  // namespace
}  // namespace rondo::perf
