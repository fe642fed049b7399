// A run of ShardedAdamW on several ranks in one process, for tests.
//
// Initial values and gradients are random numbers that depend on seeds alone,
// so that a reference can be computed from the same ones.
//
// Thread-safety: RunSteps() is called by one thread, the rest are pure.
// Failure: reported through gtest's EXPECT_* and ASSERT_*.
//
// Example:
//   ShardedAdamWOptions options = SomeOptions({4001, 7});
//   std::vector<RankOutcome> outcomes = RunSteps(/*ranks=*/3, options);
//   EXPECT_EQ(outcomes[0].parameters, outcomes[2].parameters);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "collectives/kernels/data_type.h"
#include "optimizer/sharded_adamw.h"

namespace rondo {

inline constexpr int kRunSteps = 5;

// RONDO_* settings. These make many chunks of each shard.
using Settings = std::vector<std::pair<std::string, std::string>>;
inline const Settings kSmallChunks = {{"RONDO_CHUNK_BYTES", "512"}};

// Normally distributed.
std::vector<float> RandomFloats(size_t count, uint32_t seed);

// Values rounded to `type`: their bytes, and what they are as floats.
struct TypedValues {
  TypedValues(DataType type, const std::vector<float>& values);
  std::vector<char> bytes;
  std::vector<float> floats;
};

// Parameters p0, p1, ... of the given sizes, every second one without decay;
// hyper-parameters so large that every term of AdamW shows in the result.
ShardedAdamWOptions SomeOptions(const std::vector<size_t>& counts,
                                size_t shard_alignment = 1);
size_t TotalCount(const ShardedAdamWOptions& options);

// What RunSteps() starts from, and what it feeds to a rank's step.
std::vector<float> InitialValues(const ShardedAdamWOptions& options);
TypedValues GradientOf(const ShardedAdamWOptions& options, int step, int rank);

// What a rank has in the end.
struct RankOutcome {
  std::vector<char> parameters;
  std::vector<float> master;
};

// Runs kRunSteps steps on each of `ranks` ranks.
std::vector<RankOutcome> RunSteps(int ranks, const ShardedAdamWOptions& options,
                                  const Settings& settings = kSmallChunks);

}  // namespace rondo
