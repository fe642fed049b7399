#include "optimizer/testing/step_run.h"

#include <random>

#include "collectives/kernels/convert.h"
#include "collectives/testing/world.h"
#include "gtest/gtest.h"

namespace rondo {

std::vector<float> RandomFloats(size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

TypedValues::TypedValues(DataType type, const std::vector<float>& values)
    : bytes(values.size() * ElementSize(type)), floats(values.size()) {
  EXPECT_TRUE(ConvertElements(DataType::kFloat32, values.data(), type,
                              bytes.data(), values.size())
                  .ok());
  EXPECT_TRUE(ConvertElements(type, bytes.data(), DataType::kFloat32,
                              floats.data(), values.size())
                  .ok());
}

ShardedAdamWOptions SomeOptions(const std::vector<size_t>& counts,
                                size_t shard_alignment) {
  ShardedAdamWOptions options;
  for (size_t count : counts) {
    const size_t index = options.parameters.size();
    options.parameters.push_back(
        {"p" + std::to_string(index), count, /*decay=*/index % 2 == 0});
  }
  options.hyper = {.learning_rate = 0.05,
                   .beta1 = 0.1,
                   .beta2 = 0.2,
                   .epsilon = 0.25,
                   .weight_decay = 0.1};
  options.shard_alignment = shard_alignment;
  return options;
}

size_t TotalCount(const ShardedAdamWOptions& options) {
  size_t total = 0;
  for (const ParameterSpec& one : options.parameters) total += one.count;
  return total;
}

std::vector<float> InitialValues(const ShardedAdamWOptions& options) {
  return RandomFloats(TotalCount(options), 7);
}

TypedValues GradientOf(const ShardedAdamWOptions& options, int step, int rank) {
  return TypedValues(options.gradient_type,
                     RandomFloats(TotalCount(options), 100 * step + rank));
}

std::vector<RankOutcome> RunSteps(int ranks, const ShardedAdamWOptions& options,
                                  const Settings& settings) {
  std::vector<RankOutcome> outcomes(ranks);
  RunWorld({.ranks = ranks, .settings = settings}, [&](Communicator& comm) {
    auto optimizer =
        ShardedAdamW::Create(&comm, options, InitialValues(options).data());
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    RankOutcome& mine = outcomes[comm.rank()];
    mine.parameters.resize(TotalCount(options) *
                           ElementSize(options.parameter_type));
    for (int step = 1; step <= kRunSteps; ++step) {
      const TypedValues gradient = GradientOf(options, step, comm.rank());
      const Status status =
          (*optimizer)->Step(gradient.bytes.data(), mine.parameters.data());
      ASSERT_TRUE(status.ok()) << status.ToString();
    }
    EXPECT_EQ((*optimizer)->steps(), kRunSteps);
    mine.master = (*optimizer)->state().master();
  });
  return outcomes;
}

}  // namespace rondo
