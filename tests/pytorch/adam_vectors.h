// What PyTorch's Adam and AdamW do to known numbers: adam_vectors.txt, read.
//
// make_adam_vectors.py made the file and says what is in it. Initial values and
// gradients are computed here as there, exactly. The hyper-parameters that all
// share are constants below.
//
// Thread-safety: pure functions. Ownership: results own what they hold.
// Failure: ReadAdamVectors() names the line and what it expected there.
//
// Example:
//   auto vectors = ReadAdamVectors("tests/pytorch/adam_vectors.txt");
//   for (const AdamVector& vector : *vectors) {
//     std::vector<float> p = vector.InitialValues();
//     ...  // ten steps with vector.Gradient(step)
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "transports/base/status.h"

namespace rondo {

inline constexpr double kAdamVectorBeta1 = 0.1;
inline constexpr double kAdamVectorBeta2 = 0.2;
inline constexpr double kAdamVectorEpsilon = 0.25;
inline constexpr int kAdamVectorSteps = 10;

// One parameter under one optimizer.
struct AdamVector {
  bool decoupled = true;  // AdamW; false: Adam
  int parameter = 0;      // its number, the same under both optimizers
  int group = 0;
  double learning_rate = 0;
  double weight_decay = 0;
  size_t count = 0;
  // After (step, array), where array is 'p', 'm' or 'v'.
  std::map<std::pair<int, char>, std::vector<float>> after;

  std::vector<float> InitialValues() const;
  // `step` counts from 1.
  std::vector<float> Gradient(int step) const;
};

// `path` is relative to the directory in which tests run, the workspace's root.
Result<std::vector<AdamVector>> ReadAdamVectors(const std::string& path);

}  // namespace rondo
