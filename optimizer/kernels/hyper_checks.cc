#include "optimizer/kernels/hyper_checks.h"

#include <cmath>

#include "fmt/format.h"

namespace rondo {

Status CheckNotNegative(std::string_view name, double value) {
  if (value >= 0 && std::isfinite(static_cast<float>(value))) {
    return Status::Ok();
  }
  return InvalidArgument(fmt::format(
      "{} is {}: a number from 0 to 3.4e38 is accepted", name, value));
}

Status CheckFraction(std::string_view name, double value) {
  if (value >= 0 && static_cast<float>(value) < 1) return Status::Ok();
  return InvalidArgument(fmt::format(
      "{} is {}: at least 0 and below 1 as a float is accepted", name, value));
}

Status CheckPositive(std::string_view name, double value) {
  const auto rounded = static_cast<float>(value);
  if (rounded > 0 && std::isfinite(rounded)) return Status::Ok();
  return InvalidArgument(
      fmt::format("{} is {}: a number that is above 0 and finite as a float is "
                  "accepted",
                  name, value));
}

Status CheckGroup(int group, int group_count) {
  if (group >= 0 && group < group_count) return Status::Ok();
  return InvalidArgument(
      fmt::format("group is {}: 0 to {} is accepted", group, group_count - 1));
}

Status CheckStep(int64_t step) {
  if (step >= 1) return Status::Ok();
  return InvalidArgument(fmt::format("step is {}: steps count from 1", step));
}

std::string GroupContext(int group) { return fmt::format("group {}", group); }

}  // namespace rondo
