#include "optimizer/kernels/adamw.h"

#include <cmath>
#include <string_view>

#include "fmt/format.h"

namespace rondo {
namespace {

Status CheckNotNegative(std::string_view name, double value) {
  if (std::isfinite(value) && value >= 0) return Status::Ok();
  return InvalidArgument(fmt::format(
      "{} is {}: a finite number of at least 0 is accepted", name, value));
}

// Also after rounding to float, in which the step is computed: 0.99999999999
// would become 1 there, and its 1 - beta would not.
Status CheckBeta(std::string_view name, double value) {
  if (value >= 0 && static_cast<float>(value) < 1) return Status::Ok();
  return InvalidArgument(fmt::format(
      "{} is {}: at least 0 and below 1 as a float is accepted", name, value));
}

}  // namespace

Status CheckAdamWHyper(const AdamWHyper& hyper) {
  RONDO_RETURN_IF_ERROR(CheckNotNegative("learning_rate", hyper.learning_rate));
  RONDO_RETURN_IF_ERROR(CheckBeta("beta1", hyper.beta1));
  RONDO_RETURN_IF_ERROR(CheckBeta("beta2", hyper.beta2));
  RONDO_RETURN_IF_ERROR(CheckNotNegative("epsilon", hyper.epsilon));
  if (static_cast<float>(hyper.epsilon) == 0) {
    return InvalidArgument(
        fmt::format("epsilon is {}: a number that is above 0 as a float is "
                    "accepted",
                    hyper.epsilon));
  }
  return CheckNotNegative("weight_decay", hyper.weight_decay);
}

AdamWConstants MakeAdamWConstants(const AdamWHyper& hyper, int64_t step,
                                  bool decay) {
  const double weight_decay = decay ? hyper.weight_decay : 0.0;
  const double steps = static_cast<double>(step);
  const double bias_correction1 = 1.0 - std::pow(hyper.beta1, steps);
  const double bias_correction2 = 1.0 - std::pow(hyper.beta2, steps);
  AdamWConstants constants;
  if (hyper.decoupled) {
    constants.keep =
        static_cast<float>(1.0 - hyper.learning_rate * weight_decay);
  } else {
    constants.l2_decay = static_cast<float>(weight_decay);
  }
  constants.beta1 = static_cast<float>(hyper.beta1);
  constants.one_minus_beta1 = static_cast<float>(1.0 - hyper.beta1);
  constants.beta2 = static_cast<float>(hyper.beta2);
  constants.one_minus_beta2 = static_cast<float>(1.0 - hyper.beta2);
  constants.sqrt_bias_correction2 =
      static_cast<float>(std::sqrt(bias_correction2));
  constants.epsilon = static_cast<float>(hyper.epsilon);
  constants.negative_step_size =
      static_cast<float>(-hyper.learning_rate / bias_correction1);
  return constants;
}

}  // namespace rondo
