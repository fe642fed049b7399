#include "perf/step/step_check.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "collectives/kernels/convert.h"
#include "optimizer/kernels/adam_reference.h"

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

GradientSum SumOf(const StepCheck& check, int step, size_t index) {
  GradientSum sum;
  const size_t shifted = index + static_cast<size_t>(step - 1) * kStepShift;
  for (int rank = 0; rank < check.ranks; ++rank) {
    sum.Add(TestGradient(check.seed, rank, shifted));
  }
  return sum;
}

AdamReference Reference(const StepCheck& check, const AdamHyper& hyper,
                        size_t index) {
  AdamReference element(TestInitial(check.seed, index));
  const double scale = 1.0 / check.ranks;
  const double roundoff = UnitRoundoff(check.gradient_type);
  for (size_t step = 1; step <= check.coefficients.size(); ++step) {
    const GradientSum sum = SumOf(check, static_cast<int>(step), index);
    const double coefficient = check.coefficients[step - 1];
    double gradient = sum.Scaled(scale);
    double bound = sum.ScaledBound(scale, roundoff);
    if (coefficient != 1) {
      gradient *= coefficient;
      // The norm's own error, the rounded coefficient, and a product.
      bound = coefficient * bound +
              std::abs(gradient) * (NormTolerance(check) + 3 * 0x1p-24);
    }
    element.Step(hyper, static_cast<int64_t>(step), gradient, bound);
  }
  return element;
}

}  // namespace

double TestGradient(uint64_t seed, int rank, size_t index) {
  const uint64_t stream =
      Mix(seed * 0x9e3779b97f4a7c15u) + static_cast<uint64_t>(rank);
  return SmallValue(Mix(Mix(stream) + index));
}

float TestInitial(uint64_t seed, size_t index) {
  return static_cast<float>(SmallValue(Mix(Mix(~seed) + index)));
}

void FillGradients(DataType type, uint64_t seed, int rank, void* gradients,
                   size_t count) {
  std::vector<float> exact(std::min(count, kPieceElements));
  auto* target = static_cast<char*>(gradients);
  for (size_t offset = 0; offset < count; offset += kPieceElements) {
    const size_t piece = std::min(kPieceElements, count - offset);
    for (size_t i = 0; i < piece; ++i) {
      exact[i] = static_cast<float>(TestGradient(seed, rank, offset + i));
    }
    // Cannot fail between floating-point types.
    static_cast<void>(ConvertElements(DataType::kFloat32, exact.data(), type,
                                      target + offset * ElementSize(type),
                                      piece));
  }
}

double SquaredNorm(const StepCheck& check, int step, size_t first,
                   size_t count) {
  double squares = 0;
  for (size_t i = first; i < first + count; ++i) {
    const double mean = SumOf(check, step, i).Scaled(1.0 / check.ranks);
    squares += mean * mean;
  }
  return squares;
}

double NormTolerance(const StepCheck& check) {
  // Each term is off by at most so much of the largest sum of its kind; twice
  // that also covers the additions in double.
  return 2 * check.ranks * UnitRoundoff(check.gradient_type);
}

int64_t CountOutside(const StepCheck& check, const AdamHyper& hyper,
                     size_t first, size_t count, const void* parameters) {
  std::vector<double> got(std::min(count, kPieceElements));
  const auto* source = static_cast<const char*>(parameters);
  const size_t element_bytes = ElementSize(check.parameter_type);
  int64_t outside = 0;
  for (size_t offset = 0; offset < count; offset += kPieceElements) {
    const size_t piece = std::min(kPieceElements, count - offset);
    static_cast<void>(ConvertElements(check.parameter_type,
                                      source + offset * element_bytes,
                                      DataType::kFloat64, got.data(), piece));
    for (size_t i = 0; i < piece; ++i) {
      const AdamReference want = Reference(check, hyper, first + offset + i);
      const double error = std::abs(got[i] - want.p());
      if (!(error <= want.p_bound(check.parameter_type))) ++outside;
    }
  }
  return outside;
}

}  // namespace rondo::perf
