#include "optimizer/kernels/adam_reference.h"

#include <algorithm>
#include <cmath>

namespace rondo {
namespace {

constexpr double kRoundoff = 0x1p-24;  // of float, to nearest
constexpr double kHigherOrder = 1.001;
constexpr double kUnderflow = 1e-37;

double Bound(double first_order) {
  return kHigherOrder * first_order + kUnderflow;
}

// Largest relative error of rounding to `type`, and largest absolute error
// among its subnormals.
struct Rounding {
  double relative;
  double absolute;
};

Rounding RoundingOf(DataType type) {
  switch (type) {
    case DataType::kFloat16:
      return {0x1p-11, 0x1p-25};
    case DataType::kBfloat16:
      return {0x1p-8, 0x1p-134};
    default:  // float and double hold the fp32 master exactly
      return {0, 0};
  }
}

}  // namespace

void AdamReference::Step(const AdamHyper& hyper, int64_t step, double gradient,
                         double gradient_bound) {
  constexpr double u = kRoundoff;
  const double weight_decay = hyper.weight_decay;
  const double b1 = hyper.beta1;
  const double b2 = hyper.beta2;
  const double w = 1 - b1;
  const double correction1 = 1 - std::pow(b1, static_cast<double>(step));
  const double correction2 = 1 - std::pow(b2, static_cast<double>(step));

  // Decay: of the parameter, or as a part of the gradient.
  const double keep =
      hyper.decoupled ? 1 - hyper.learning_rate * weight_decay : 1.0;
  const double l2 = hyper.decoupled ? 0.0 : weight_decay;
  const double kept = keep * p_;
  const double kept_bound =
      Bound(std::abs(keep) * p_bound_ + 2 * u * std::abs(kept));
  const double g = gradient + l2 * kept;
  const double g_bound = Bound(gradient_bound + l2 * kept_bound +
                               2 * u * std::abs(l2 * kept) + u * std::abs(g));

  // Moments.
  const double difference = std::abs(g - m_);
  m_ = b1 * m_ + w * g;
  m_bound_ = Bound(b1 * m_bound_ + w * g_bound +
                   3 * u * (w < 0.5 ? w : b1) * difference + u * std::abs(m_));
  const double squared_bound = 2 * std::abs(g) * g_bound + g_bound * g_bound;
  const double v = b2 * v_ + (1 - b2) * g * g;
  v_bound_ = Bound(b2 * v_bound_ + (1 - b2) * squared_bound + 2 * u * b2 * v_ +
                   3 * u * (1 - b2) * g * g + u * v);
  v_ = v;

  // Update.
  const double root = std::sqrt(v_);
  const double lowest_root = std::sqrt(std::max(0.0, v_ - v_bound_));
  // |sqrt(a) - sqrt(b)| is also at most sqrt(|a - b|), which serves at 0.
  const double root_bound =
      std::min(v_bound_ / (root + lowest_root), std::sqrt(v_bound_)) + u * root;
  const double c = std::sqrt(correction2);
  const double d = root / c + hyper.epsilon;
  const double d_bound =
      Bound(root_bound / c + 2 * u * root / c + u * hyper.epsilon + u * d);
  const double q = m_ / d;
  const double q_bound = Bound(
      (m_bound_ + std::abs(q) * d_bound) / (d - d_bound) + u * std::abs(q));
  const double a = hyper.learning_rate / correction1;
  p_ = kept - a * q;
  p_bound_ = Bound(kept_bound + a * q_bound + 2 * u * a * std::abs(q) +
                   u * std::abs(p_));
}

double AdamReference::p_bound(DataType type) const {
  const Rounding rounding = RoundingOf(type);
  return p_bound_ + rounding.relative * (std::abs(p_) + p_bound_) +
         rounding.absolute;
}

void GradientSum::Add(double term) {
  value += term;
  magnitude += std::abs(term);
  ++terms;
}

double GradientSum::ScaledBound(double scale, double unit_roundoff) const {
  const double additions = std::max(0, terms - 1) * unit_roundoff * magnitude;
  return Bound(std::abs(scale) * (additions + 2 * kRoundoff * magnitude));
}

}  // namespace rondo
