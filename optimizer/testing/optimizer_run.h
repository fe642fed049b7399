// A run of ShardedOptimizer on several ranks in one process, for tests.
//
// Initial values and gradients are random numbers that depend on parameter,
// step, rank and seed alone, never on where the layout puts them, so that runs
// with different layouts can be compared, and with a reference.
//
// Thread-safety: RunOptimizer() is called by one thread, the rest are pure.
// Failure: reported through gtest's EXPECT_* and ASSERT_*.
//
// Example:
//   const RunOutcome outcome = RunOptimizer({.ranks = 3, .options = options});
//   EXPECT_EQ(outcome.parameters[0], other.parameters[0]);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/kernels/update_rule.h"
#include "optimizer/sharded_optimizer.h"

namespace rondo {

// Normally distributed.
std::vector<float> RandomFloats(size_t count, uint32_t seed);

// What a rank's gradient of a parameter is at a step, before rounding to the
// gradients' type.
std::vector<float> GradientOf(size_t count, int parameter, int step, int rank);
std::vector<float> InitialOf(size_t count, int parameter);

struct OptimizerRun {
  int ranks = 1;
  std::vector<std::string> host_ids = {};  // empty: one host
  ShardedOptimizerOptions options = {};
  // Null: Adam with two groups, hyper-parameters so large that every term shows
  // in the result.
  std::function<std::unique_ptr<UpdateRule>()> make_rule = {};
  StepOptions step_options = {};
  int steps = 4;
  bool symmetric = false;
  // After this step the optimizer is made anew from saved buffers; 0: never.
  int restart_after = 0;
  std::vector<std::pair<std::string, std::string>> settings = {
      {"RONDO_CHUNK_BYTES", "4096"}};
  // Changes a rank's gradient of a parameter at a step before it is used.
  std::function<void(int step, int rank, int parameter, std::vector<float>*)>
      adjust_gradient = {};
  // Called before each step, with the same rule on every rank.
  std::function<void(int step, UpdateRule*)> before_step = {};
};

// By parameter, whatever the layout.
struct RunOutcome {
  // Rank 0's, as floats; every rank had the same bits.
  std::vector<std::vector<float>> parameters;
  std::vector<std::vector<float>> master;               // of all shards
  std::vector<std::vector<std::vector<float>>> states;  // [state][parameter]
  std::vector<StepResult> results;                      // rank 0's
};

RunOutcome RunOptimizer(const OptimizerRun& run);

// Small parameters of odd sizes, of both groups.
std::vector<LayoutParameter> SomeParameters(DataType type = DataType::kFloat32);

}  // namespace rondo
