#include "perf/step/step_check.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "collectives/kernels/convert.h"
#include "optimizer/kernels/adamw_reference.h"

namespace rondo::perf {
namespace {

constexpr size_t kPieceElements = size_t{1} << 14;

// SplitMix64's finalizer (Steele, Lea and Flood 2014).
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// A multiple of 1/128 in [-1, 1].
double SmallValue(uint64_t bits) {
  return (static_cast<double>(bits % 257) - 128) / 128;
}

// How far one addition may be off: partial sums may travel in the gradients'
// own type.
double UnitRoundoff(DataType type) {
  switch (type) {
    case DataType::kBfloat16:
      return 0x1p-8;
    case DataType::kFloat16:
      return 0x1p-11;
    default:
      return 0x1p-24;
  }
}

AdamWReference Reference(const StepCheck& check, size_t index) {
  AdamWReference element(TestInitial(check.seed, index));
  const double scale = 1.0 / check.ranks;
  for (int64_t step = 1; step <= check.steps; ++step) {
    GradientSum sum;
    for (int rank = 0; rank < check.ranks; ++rank) {
      sum.Add(TestGradient(check.seed, step, rank, index));
    }
    element.Step(check.hyper, step, /*decay=*/true, sum.Scaled(scale),
                 sum.ScaledBound(scale, UnitRoundoff(check.gradient_type)));
  }
  return element;
}

}  // namespace

double TestGradient(uint64_t seed, int64_t step, int rank, size_t index) {
  const uint64_t stream =
      Mix(seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(step)) +
      static_cast<uint64_t>(rank);
  return SmallValue(Mix(Mix(stream) + index));
}

float TestInitial(uint64_t seed, size_t index) {
  return static_cast<float>(SmallValue(Mix(Mix(~seed) + index)));
}

void FillGradients(DataType type, uint64_t seed, int64_t step, int rank,
                   void* gradients, size_t count) {
  std::vector<double> exact(std::min(count, kPieceElements));
  auto* target = static_cast<char*>(gradients);
  for (size_t offset = 0; offset < count; offset += kPieceElements) {
    const size_t piece = std::min(kPieceElements, count - offset);
    for (size_t i = 0; i < piece; ++i) {
      exact[i] = TestGradient(seed, step, rank, offset + i);
    }
    // Cannot fail between floating-point types.
    static_cast<void>(ConvertElements(DataType::kFloat64, exact.data(), type,
                                      target + offset * ElementSize(type),
                                      piece));
  }
}

int64_t CountOutside(const StepCheck& check, const void* parameters) {
  std::vector<double> got(std::min(check.count, kPieceElements));
  const auto* source = static_cast<const char*>(parameters);
  const size_t element_bytes = ElementSize(check.parameter_type);
  int64_t outside = 0;
  for (size_t offset = 0; offset < check.count; offset += kPieceElements) {
    const size_t piece = std::min(kPieceElements, check.count - offset);
    static_cast<void>(ConvertElements(check.parameter_type,
                                      source + offset * element_bytes,
                                      DataType::kFloat64, got.data(), piece));
    for (size_t i = 0; i < piece; ++i) {
      const AdamWReference want = Reference(check, offset + i);
      const double error = std::abs(got[i] - want.p());
      if (!(error <= want.p_bound(check.parameter_type))) ++outside;
    }
  }
  return outside;
}

}  // namespace rondo::perf
