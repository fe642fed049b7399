// AdamReference: one element of Adam or AdamW in double, with a bound on how
// far a correct fp32 implementation may be from it.
//
// It is written from the published formulas, apart from adam_rule.h, and serves
// to check results: tests, and benchmarks that verify what they time.
//
// The bound is a running error analysis. With u = 2^-24, every fp32 operation
// gives the exact result times (1 + d), |d| <= u, and so does rounding a
// constant once. Let e(x) bound |computed x - exact x|. To first order in u,
// for the operations in the order of AdamMode::kTorchCompat:
//
//   kept = p * keep            e = keep * e(p) + 2u |kept|
//       (one rounded constant, one product)
//   g'   = g + l2 * kept       e = e(g) + l2 * e(kept) + 2u |l2 * kept|
//                                  + u |g'|
//   m'   = m + w (g' - m)      e = b1 * e(m) + w * e(g') + 3u s |g' - m|
//                                  + u |m'|
//       (s = w: constant, difference, product, then the sum. If w >= 1/2 it is
//       g' - (g' - m) b1, and s = b1. The exact map has slopes b1 and w.)
//   v'   = v b2 + (1-b2) g'^2  e = b2 * e(v) + (1-b2)(2 |g'| e(g') + e(g')^2)
//                                  + 2u b2 v + 3u (1-b2) g'^2 + u v'
//   r    = sqrt(v')            e = e(v') / (sqrt(v') + sqrt(v' - e(v'))) + u r
//       (the difference of square roots; the last root is 0 where e(v') > v';
//       sqrt(e(v')) if that is less)
//   d    = r / c + epsilon     e = e(r) / c + 2u r / c + u epsilon + u d
//   q    = a m' / d            e = |a| (e(m') + |m' / d| e(d)) / (d - e(d))
//                                  + 3u |q|
//       (a rounded constant, a product and a quotient)
//   p'   = kept + q            e = e(kept) + e(q) + u |p'|
//
// Terms of higher order are covered by a factor of 1.001, and underflow, where
// the relative model does not hold, by 1e-37 per operation.
//
// Thread-safety: a value. Ownership: none. Failure: none; `step` is at least 1.
//
// Example:
//   AdamReference element(initial);
//   element.Step(hyper, /*step=*/1, gradient, /*gradient_bound=*/0);
//   EXPECT_NEAR(computed, element.p(), element.p_bound());
#pragma once

#include <cstdint>

#include "collectives/kernels/data_type.h"
#include "optimizer/kernels/adam_rule.h"

namespace rondo {

class AdamReference {
 public:
  explicit AdamReference(double parameter) : p_(parameter) {}

  // `gradient`: exact; `gradient_bound`: how far the computed one may be off.
  void Step(const AdamHyper& hyper, int64_t step, double gradient,
            double gradient_bound);

  double p() const { return p_; }
  double m() const { return m_; }
  double v() const { return v_; }
  double p_bound() const { return p_bound_; }
  double m_bound() const { return m_bound_; }
  double v_bound() const { return v_bound_; }

  // The bound for p after one rounding to `type`, a floating-point type.
  double p_bound(DataType type) const;

 private:
  double p_;
  double m_ = 0;
  double v_ = 0;
  double p_bound_ = 0;
  double m_bound_ = 0;
  double v_bound_ = 0;
};

// The scaled sum of one element's gradients: exact, and how far fp32 may be
// off.
struct GradientSum {
  double value = 0;
  double magnitude = 0;  // sum of |terms|
  int terms = 0;

  void Add(double term);
  double Scaled(double scale) const { return scale * value; }
  // Terms - 1 additions in any order, each of relative error `unit_roundoff`
  // and of a partial sum of at most `magnitude`; then a rounded scale and a
  // product.
  double ScaledBound(double scale, double unit_roundoff = 0x1p-24) const;
};

}  // namespace rondo
