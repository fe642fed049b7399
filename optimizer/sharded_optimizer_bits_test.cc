// Parameters and state have the same bits however a step is run: in one pass
// or several, with any bucket size, clipped or not measured at all, from
// ordinary or symmetric memory, and after a restart.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "optimizer/kernels/adam_rule.h"
#include "optimizer/testing/optimizer_run.h"

namespace rondo {
namespace {

constexpr size_t kEverything = size_t{1} << 20;

OptimizerRun BaseRun(int ranks) {
  OptimizerRun run;
  run.ranks = ranks;
  run.options.parameters = SomeParameters(DataType::kBfloat16);
  run.options.bucket_count_target = kEverything;
  return run;
}

// The number of the first parameter whose bits differ; -1 for none.
int FirstDifference(const std::vector<std::vector<float>>& a,
                    const std::vector<std::vector<float>>& b) {
  EXPECT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same =
        a[i].size() == b[i].size() &&
        (a[i].empty() || std::memcmp(a[i].data(), b[i].data(),
                                     a[i].size() * sizeof(float)) == 0);
    if (!same) return static_cast<int>(i);
  }
  return -1;
}

int FirstDifference(const RunOutcome& a, const RunOutcome& b) {
  int first = std::max(FirstDifference(a.parameters, b.parameters),
                       FirstDifference(a.master, b.master));
  EXPECT_EQ(a.states.size(), b.states.size());
  for (size_t i = 0; i < a.states.size(); ++i) {
    first = std::max(first, FirstDifference(a.states[i], b.states[i]));
  }
  return first;
}

class ShardedOptimizerBitsTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, ShardedOptimizerBitsTest,
                         testing::Values(1, 2, 3, 5, 7, 8));

// With few ranks and 16-bit gradients, clipping sums the gradients twice
// instead of keeping the sums.
TEST_P(ShardedOptimizerBitsTest, FusedAndSeparateAgreeClippedAndNot) {
  for (DataType gradients : {DataType::kFloat32, DataType::kBfloat16}) {
    for (double max_norm : {0.0, 5.0}) {
      OptimizerRun run = BaseRun(GetParam());
      run.options.gradient_type = gradients;
      run.step_options.max_norm = max_norm;
      const RunOutcome fused = RunOptimizer(run);
      run.options.schedule = StepSchedule::kSeparate;
      const RunOutcome separate = RunOptimizer(run);
      EXPECT_EQ(FirstDifference(fused, separate), -1) << max_norm;
      if (max_norm == 0) continue;
      EXPECT_LT(fused.results[0].coefficient, 1);
      EXPECT_EQ(fused.results[0].norm, separate.results[0].norm);
    }
  }
}

TEST_P(ShardedOptimizerBitsTest, BucketSizesAndChunksDoNotMatter) {
  for (double max_norm : {0.0, 5.0}) {
    OptimizerRun run = BaseRun(GetParam());
    run.options.gradient_type =
        max_norm > 0 ? DataType::kBfloat16 : DataType::kFloat32;
    run.step_options.max_norm = max_norm;
    const RunOutcome whole = RunOptimizer(run);
    for (size_t target : {size_t{1}, size_t{3000}}) {
      run.options.bucket_count_target = target;
      const RunOutcome cut = RunOptimizer(run);
      EXPECT_EQ(FirstDifference(whole, cut), -1) << target;
      EXPECT_EQ(whole.results[2].norm, cut.results[2].norm);
    }
    // Chunks of no whole number of tiles.
    run.settings = {{"RONDO_CHUNK_BYTES", "516"}};
    const RunOutcome odd = RunOptimizer(run);
    EXPECT_EQ(FirstDifference(whole, odd), -1);
    EXPECT_EQ(whole.results[2].norm, odd.results[2].norm);
  }
}

TEST_P(ShardedOptimizerBitsTest, MemoryAndRestartsDoNotMatter) {
  OptimizerRun run = BaseRun(GetParam());
  run.step_options.max_norm = 5;
  const RunOutcome plain = RunOptimizer(run);
  run.symmetric = true;
  EXPECT_EQ(FirstDifference(plain, RunOptimizer(run)), -1);
  run.restart_after = 2;
  EXPECT_EQ(FirstDifference(plain, RunOptimizer(run)), -1);
}

TEST_P(ShardedOptimizerBitsTest, ANormThatNeedsNoClippingChangesNothing) {
  OptimizerRun run = BaseRun(GetParam());
  const RunOutcome plain = RunOptimizer(run);
  run.step_options.max_norm = 1e9;
  const RunOutcome measured = RunOptimizer(run);
  EXPECT_EQ(measured.results[0].coefficient, 1);
  EXPECT_EQ(FirstDifference(plain, measured), -1);
}

// A ring does the work there.
TEST(ShardedOptimizerHostsTest, FusedAndSeparateAgreeAcrossHosts) {
  for (double max_norm : {0.0, 5.0}) {
    OptimizerRun run = BaseRun(3);
    run.host_ids = {"a", "a", "b"};
    run.options.gradient_type = DataType::kBfloat16;
    run.step_options.max_norm = max_norm;
    const RunOutcome fused = RunOptimizer(run);
    run.options.schedule = StepSchedule::kSeparate;
    EXPECT_EQ(FirstDifference(fused, RunOptimizer(run)), -1) << max_norm;
  }
}

// The controls: what must be seen.
TEST(ShardedOptimizerBitsControlTest, SwappedElementsAreSeen) {
  OptimizerRun run = BaseRun(2);
  const RunOutcome right = RunOptimizer(run);
  run.adjust_gradient = [](int step, int rank, int parameter,
                           std::vector<float>* gradient) {
    if (step == 2 && rank == 1 && parameter == 3) {
      std::swap((*gradient)[100], (*gradient)[101]);
    }
  };
  EXPECT_EQ(FirstDifference(right, RunOptimizer(run)), 3);
}

TEST(ShardedOptimizerBitsControlTest, AnotherOrderOfSumsIsSeen) {
  OptimizerRun run = BaseRun(3);
  run.options.parameters = {{.name = "p", .shape = {20'000}}};
  const RunOutcome right = RunOptimizer(run);
  run.settings.push_back({"RONDO_ALGO", "ring"});
  EXPECT_NE(FirstDifference(right, RunOptimizer(run)), -1);
}

TEST(ShardedOptimizerBitsControlTest, TheWrongGroupIsSeen) {
  OptimizerRun run = BaseRun(2);
  const RunOutcome right = RunOptimizer(run);
  run.options.parameters[4].group = 0;
  EXPECT_EQ(FirstDifference(right, RunOptimizer(run)), 4);
}

}  // namespace
}  // namespace rondo
